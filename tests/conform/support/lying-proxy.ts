// A gateway that is wrong on purpose: it stands before a real one and changes what that says.
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import WebSocket, { WebSocketServer } from "ws";

export interface Lies {
  /** What clients hear over a WebSocket instead of the text. */
  heard?(text: string, path: string): string;
  /** What the gateway hears over a WebSocket instead of the text. */
  said?(text: string): string;
  /** What HTTP answers instead. */
  answered?(body: string, path: string): string;
}

export interface LyingProxy extends AsyncDisposable {
  readonly url: string;
}

export async function startLyingProxy(url: string, lies: Lies): Promise<LyingProxy> {
  const { heard = same, said = same, answered = same } = lies;
  const server = createServer((request, response) => {
    const path = request.url ?? "/";
    const forwarded = httpRequest(new URL(path, url), {
      method: request.method,
      headers: hostless(request.headers),
    });
    forwarded.on("response", (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk) => chunks.push(chunk));
      answer.on("end", () => {
        const body = Buffer.from(answered(Buffer.concat(chunks).toString(), path));
        const { "content-length": _, "transfer-encoding": __, ...headers } = answer.headers;
        response.writeHead(answer.statusCode ?? 502, headers).end(body);
      });
    });
    forwarded.on("error", () => response.destroy());
    request.pipe(forwarded);
  });
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request, socket, head) => {
    const path = request.url ?? "/";
    const address = new URL(path, url.replace("http", "ws"));
    const { authorization, "sec-websocket-protocol": offered } = request.headers;
    const headers = {
      ...(authorization !== undefined && { authorization }),
      ...(offered !== undefined && { "sec-websocket-protocol": offered }),
    };
    const above = new WebSocket(address, { headers });
    const early: [WebSocket.RawData, boolean][] = [];
    const keep = (data: WebSocket.RawData, isBinary: boolean) => void early.push([data, isBinary]);
    above.on("message", keep);
    above.on("error", () => socket.destroy());
    above.on("unexpected-response", (_request, answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk) => chunks.push(chunk));
      answer.on("end", () => {
        const body = Buffer.concat(chunks);
        const head = `HTTP/1.1 ${answer.statusCode} Refused\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n`;
        socket.end(Buffer.concat([Buffer.from(head), body]));
      });
    });
    above.on("open", () =>
      sockets.handleUpgrade(request, socket, head, (below) => {
        const pass = (data: WebSocket.RawData) => below.send(heard(String(data), path));
        for (const [data] of early) pass(data);
        above.off("message", keep).on("message", pass);
        above.on("close", (code, reason) => below.close(sendable(code), reason));
        below.on("message", (data, isBinary) =>
          above.send(isBinary ? data : said(String(data)), { binary: isBinary }),
        );
        below.on("close", (code, reason) => above.close(sendable(code), reason));
        below.on("ping", (data) => above.ping(data));
        below.on("error", () => above.terminate());
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const client of sockets.clients) client.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function same(text: string): string {
  return text;
}

function hostless({ host: _, ...headers }: Record<string, string | string[] | undefined>) {
  return headers;
}

/** Codes that only the library itself may use. */
function sendable(code: number): number {
  return code === 1005 || code === 1006 ? 1000 : code;
}
