// A hop above the gate that is not honest: a tree that takes whoever registers, and says whatever a test wants.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { type Message, revision } from "../../../tree/support/ask.ts";

export interface HostileParent {
  readonly url: string;
  /** To the tree below, as its parent. Resolves with the whole answer. */
  ask(method: string, params?: object, meta?: object): Promise<Message>;
  close(): Promise<void>;
}

export async function startHostileParent(): Promise<HostileParent> {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, path: "/ax" });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const waiting = new Map<number, (message: Message) => void>();
  const arrived = Promise.withResolvers<WebSocket>();
  let lastId = 0;

  server.on("connection", (socket) => {
    socket.on("message", (data) => {
      const message: Message = JSON.parse(String(data));
      if (message.method === undefined) return waiting.get(message.id)?.(message);
      if (message.id === undefined) return;
      const result = message.method === "mcpax/register" ? registered(message.params) : {};
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
      if (message.method === "mcpax/register") arrived.resolve(socket);
    });
  });

  return {
    url: `ws://127.0.0.1:${port}`,
    async ask(method, params = {}, meta = {}) {
      const socket = await arrived.promise;
      lastId += 1;
      const { promise, resolve } = Promise.withResolvers<Message>();
      waiting.set(lastId, resolve);
      const _meta = {
        "io.modelcontextprotocol/protocolVersion": revision,
        "io.modelcontextprotocol/clientCapabilities": {},
        ...meta,
      };
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: lastId, method, params: { ...params, _meta } }));
      return promise;
    },
    async close() {
      for (const socket of server.clients) socket.terminate();
      server.close();
      await once(server, "close");
    },
  };
}

function registered({ segment }: Message): object {
  return {
    status: "registered",
    assigned_segment: segment,
    session_id: randomUUID(),
    heartbeat_interval_ms: 0,
    heartbeat_deadline_ms: 0,
    lease_ms: 0,
    aggregator_id: randomUUID(),
    epoch: 1,
  };
}
