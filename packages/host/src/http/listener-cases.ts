// What the listener's tests share: a listener with a few routes, and a way to send it bytes as they are.
import { once } from "node:events";
import { connect } from "node:net";
import { defaultLimits, McpxError } from "@mcpx/protocol";
import { afterEach } from "vitest";
import { createLogger } from "../logging/log.ts";
import { bearerToken } from "./bearer.ts";
import { createListener, type Listener, type ListenerOptions } from "./listener.ts";
import type { Route } from "./routes.ts";

const listeners: Listener[] = [];

/** What was logged as a warning or worse. */
export const lines: string[] = [];

export const log = createLogger({ level: "warn", destination: { write: (line) => void lines.push(line) } });

export const routes: Route[] = [
  { method: "GET", path: "/hello", handle: () => ({ body: { hello: "world" } }) },
  { method: "GET", path: "/text", handle: () => ({ text: "plain" }) },
  { method: "GET", path: "/topics/:topic", handle: ({ params }) => ({ body: params }) },
  { method: "POST", path: "/echo", handle: async (request) => ({ status: 201, body: await request.json() }) },
  { method: "DELETE", path: "/echo", handle: () => ({}) },
  { method: "GET", path: "/me", handle: (request) => ({ body: { token: bearerToken(request) } }) },
  {
    method: "GET",
    path: "/from",
    handle: ({ isLoopback, remoteAddress }) => ({ body: { isLoopback, remoteAddress } }),
  },
  {
    method: "GET",
    path: "/limited",
    handle: () => {
      throw new McpxError("rate_limited", "slowly", { retryAfterMs: 2_500 });
    },
  },
  {
    method: "GET",
    path: "/broken",
    handle: () => {
      throw new Error("the secret of the house");
    },
  },
];

export async function start({
  routes: served = routes,
  ...options
}: Partial<ListenerOptions> & { routes?: readonly Route[] } = {}) {
  const listener = createListener({
    host: "127.0.0.1",
    port: 0,
    limits: defaultLimits,
    log,
    ...options,
  });
  listeners.push(listener);
  const { url, port } = await listener.start(served);
  return { listener, url, port };
}

afterEach(async () => {
  await Promise.all(listeners.splice(0).map((listener) => listener.close({ graceMs: 0 })));
  lines.length = 0;
});

/** Sends bytes as they are and gives back all that comes until the other side closes. */
export async function sendRaw(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk;
  });
  socket.on("error", () => {});
  socket.write(text);
  await once(socket, "close");
  return received;
}

export const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
export const get = (path: string, headers: string[]) =>
  `GET ${path} HTTP/1.1\r\n${[...headers, "Connection: close"].join("\r\n")}\r\n\r\n`;
export const upgrade = (path: string, headers: string[]) =>
  `GET ${path} HTTP/1.1\r\n${[...headers, "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"].join("\r\n")}\r\n\r\n`;

export async function errorOf(response: Response) {
  return ((await response.json()) as { error: Record<string, unknown> }).error;
}
