// A web site of a few pages on this machine.
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export interface Page {
  status: number;
  /** Text as it is, anything else as JSON. */
  body: unknown;
  headers?: Record<string, string>;
}

export type Pages = Record<string, (request: IncomingMessage, url: URL) => Page | Promise<Page>>;

export interface Site {
  readonly url: string;
  stop(): Promise<void>;
}

/** Pages by method and path, such as `GET /a`. */
export async function listen(pages: Pages): Promise<Site> {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "", "http://127.0.0.1");
    const page = pages[`${request.method} ${url.pathname}`];
    void (async () => page?.(request, url) ?? { status: 404, body: {} })()
      .catch(() => ({ status: 500, body: {} }) as Page)
      .then(({ status, body, headers }) => {
        response.writeHead(status, { "content-type": "application/json", ...headers });
        response.end(typeof body === "string" ? body : JSON.stringify(body));
      });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
