// The address an authorization server sends a browser back to: a listener on this machine that waits for one answer
// with our `state` and is gone. Answers with another state are refused and change nothing.
import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { McpxError } from "@mcpx/protocol";

export interface LoopbackRedirect {
  readonly url: string;
  /** The parameters of the answer. */
  answer(state: string, timeoutMs: number): Promise<URLSearchParams>;
  close(): Promise<void>;
}

const path = "/callback";
const connectionsMax = 16;
const lingerMs = 1_000;

/** On `port` if it is free, else on any. */
export async function openLoopbackRedirect(port = 0): Promise<LoopbackRedirect> {
  let take: ((params: URLSearchParams) => boolean) | undefined;
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? "", "http://127.0.0.1");
    if (request.method !== "GET" || url?.pathname !== path || request.headers.host !== host) {
      say(response, 404, "Not found.");
    } else if (take?.(url.searchParams)) {
      say(response, 200, "Done. You can close this window.");
    } else {
      say(
        response,
        400,
        "This address belongs to no authorisation that is under way. You can close this window.",
      );
    }
  });
  server.maxConnections = connectionsMax;
  server.requestTimeout = 10_000;
  server.unref();
  await listen(server, port).catch(() => listen(server, 0));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    url: `http://${host}${path}`,
    answer: (state, timeoutMs) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          reject(new McpxError("server_unauthorised", "nobody completed the authorisation in time"));
        }, timeoutMs);
        // A process that ends does not wait for anybody.
        timer.unref();
        server.once("close", () => {
          clearTimeout(timer);
          reject(new McpxError("server_unauthorised", "the authorisation was cancelled"));
        });
        take = (params) => {
          if (!isSame(params.get("state") ?? "", state)) return false;
          take = undefined;
          clearTimeout(timer);
          resolve(params);
          return true;
        };
      }),
    async close() {
      // The browser gets its page before the listener goes, but nobody holds it open.
      const timer = setTimeout(() => server.closeAllConnections(), lingerMs);
      await new Promise<void>((resolve) => server.close(() => resolve()));
      clearTimeout(timer);
    },
  };
}

function say(response: ServerResponse<IncomingMessage>, status: number, text: string): void {
  response
    .writeHead(status, {
      "content-type": "text/plain; charset=utf-8",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "cache-control": "no-store",
      // The address holds the code.
      "referrer-policy": "no-referrer",
      connection: "close",
    })
    .end(text);
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function isSame(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
