// Somebody enters a room inside the server's process: a connection beside their own, seen envelope by envelope.
import { EventEmitter } from "node:events";
import type { VirtualEnd } from "@mcpx/gateway";
import type { EnterOptions } from "./enter.ts";
import { TestClient } from "./test-client.ts";
import type { TestServer } from "./test-server.ts";

export async function enterVirtually(
  server: TestServer,
  id: string,
  { topic = "room:test", ttlMs, query = {}, ...claims }: EnterOptions = {},
): Promise<TestClient> {
  const token = await server.token({ sub: id, topics: [topic], level: "full", ...claims }, ttlMs);
  return enterVirtuallyWith(server, token, { topic, ...query });
}

export async function enterVirtuallyWith(
  server: TestServer,
  token: string,
  query: Record<string, string>,
): Promise<TestClient> {
  const principal = await server.identity.tokens.verify(token);
  const end = await server.rooms.enter(principal, new URLSearchParams(query));
  const client = TestClient.over(asLibrarySocket(end), principal.id ?? "");
  client.welcome = await client.event("welcome");
  return client;
}

function asLibrarySocket(end: VirtualEnd) {
  const socket = new EventEmitter();
  end.onmessage = ({ data }: { data: string }) => socket.emit("message", data);
  end.onclose = ({ code, reason }: { code: number; reason: string }) => socket.emit("close", code, reason);
  // What was written in this turn of the loop is here after the next.
  const ping = () => setImmediate(() => setImmediate(() => socket.emit("pong")));
  return Object.assign(socket, { send: end.send, close: end.close, ping });
}
