// Raw HTTP servers for tests: each request is answered by a function, on a port of the loopback, gone with the test.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { onTestFinished } from "vitest";

/** biome-ignore lint/suspicious/noExplicitAny: whatever comes over the wire */
type Message = any;

export interface RawRequest {
  request: IncomingMessage;
  response: ServerResponse;
  body: string;
  message: Message;
}

export interface RawServer {
  url: string;
  origin: string;
  /** What came, in order. */
  requests: RawRequest[];
  sockets: Set<Socket>;
  stop(): Promise<void>;
}

export async function rawHttp(answer: (raw: RawRequest) => void): Promise<RawServer> {
  const requests: RawRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(async (request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("error", () => {});
    response.on("error", () => {});
    request.on("data", (chunk: string) => {
      body += chunk;
    });
    await once(request, "end");
    const raw = { request, response, body, message: body === "" ? undefined : JSON.parse(body) };
    requests.push(raw);
    answer(raw);
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const stop = async () => {
    for (const socket of sockets) socket.destroy();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(stop);
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `${origin}/mcp`, origin, requests, sockets, stop };
}

export function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(typeof value === "string" ? value : JSON.stringify(value));
}

export function events(response: ServerResponse, texts: readonly string[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const text of texts) response.write(`data: ${text}\n\n`);
}
