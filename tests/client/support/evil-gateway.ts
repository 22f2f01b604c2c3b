// A gateway that lies: it lets everybody in and then sends whatever a test wants.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";

export interface EvilGateway {
  readonly url: string;
  /** What clients have sent, newest last. */
  // biome-ignore lint/suspicious/noExplicitAny: envelopes of any shape
  readonly received: any[];
  /** The addresses they came by. */
  readonly addresses: URL[];
  /** Sends a frame to the newest connection. */
  send(frame: unknown): void;
  sendText(text: string | Buffer): void;
  /** Sends an envelope of the topic with the next number, or the one that is given. */
  say(from: string, envelope: Record<string, unknown>, seq?: number): void;
  /** Acknowledges everything that comes, with the next numbers. */
  isAcking: boolean;
  welcome: Record<string, unknown>;
  close(code: number, reason?: string): void;
}

export async function startEvilGateway(): Promise<EvilGateway> {
  let seq = 0;
  let lastId = 0;
  let current: WebSocket | undefined;
  const base = (from: string) => ({
    protocol: "mcpx/v0.1",
    id: `e${++lastId}`,
    ts: new Date().toISOString(),
    from,
  });
  const server = createServer((_request, response) => {
    response.writeHead(201, { "content-type": "application/json" });
    response.end(JSON.stringify({ ticket: "t", expires_at: new Date().toISOString() }));
  });
  const sockets = new WebSocketServer({ server });
  const evil: EvilGateway = {
    url: "",
    received: [],
    addresses: [],
    isAcking: true,
    welcome: {
      event: "welcome",
      participant: { id: "alice", privilege: "full" },
      participants: [
        { id: "oven", privilege: "full" },
        { id: "mallory", privilege: "full" },
      ],
      connection_id: "c",
      history: { enabled: true, limit: 10, epoch: "ep", seq: 0 },
    },
    send: (frame) => current?.send(JSON.stringify(frame)),
    sendText: (text) => current?.send(text),
    say: (from, envelope, number) => {
      seq = number ?? seq + 1;
      evil.send({ ...base(from), ...envelope, seq, at: new Date().toISOString() });
    },
    close: (code, reason) => current?.close(code, reason),
  };
  sockets.on("connection", (socket, request) => {
    current = socket;
    const address = new URL(request.url ?? "", "http://x");
    evil.addresses.push(address);
    const resumed = address.searchParams.has("resume") ? { resumed: true } : {};
    evil.send({ ...base("system:gateway"), kind: "system", payload: { ...evil.welcome, ...resumed } });
    socket.on("message", (data) => {
      const envelope = JSON.parse(String(data));
      evil.received.push(envelope);
      if (!evil.isAcking) return;
      seq += 1;
      const payload = { event: "ack", id: envelope.id, seq, epoch: "ep", at: new Date().toISOString() };
      evil.send({ ...base("system:gateway"), kind: "system", correlation_id: envelope.id, payload });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(evil, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}
