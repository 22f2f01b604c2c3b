// A participant made of nothing but a WebSocket, with what tests often want of one.
import { randomUUID } from "node:crypto";
import { RoomMember, type Seen } from "@mcpx/conform";
import type WebSocket from "ws";

export { HttpRefusal, type Seen } from "@mcpx/conform";

export class TestClient extends RoomMember {
  /** The first message, where `enter` took it. */
  welcome: Seen;

  /** Over something that looks like the library's WebSocket and is open already. */
  static over(ws: unknown, id: string): TestClient {
    return new TestClient(ws as WebSocket, id);
  }

  /** Sends an envelope; what is left out gets a plain value. Returns its id. */
  send(envelope: Record<string, unknown>): string {
    const id = (envelope.id as string | undefined) ?? randomUUID();
    this.ws.send(JSON.stringify({ protocol: "mcpx/v0.1", ...envelope, id }));
    return id;
  }

  say(text: string, more: Record<string, unknown> = {}): string {
    return this.send({ kind: "chat", payload: { text }, ...more });
  }

  /** The next message that fits; what comes before it is dropped. */
  async find(fits: (message: Seen) => boolean): Promise<Seen> {
    for (;;) {
      const message = await this.next();
      if (fits(message)) return message;
    }
  }

  event(event: string): Promise<Seen> {
    return this.find((message) => message.payload.event === event);
  }

  ack(id: string): Promise<Seen> {
    return this.find((message) => message.payload.event === "ack" && message.payload.id === id);
  }

  /** What the gateway says to an envelope of ours: its ack or its refusal. */
  answer(id: string): Promise<Seen> {
    return this.find((message) => message.from === "system:gateway" && message.correlation_id === id);
  }

  /** The same in one word: `ack`, or the reason of the refusal. */
  async outcome(id: string): Promise<string> {
    const { payload } = await this.answer(id);
    return payload.error?.data.reason ?? payload.reason ?? payload.event;
  }

  /** Takes everything that has come so far. */
  async taken(): Promise<Seen[]> {
    await this.settled();
    return this.inbox.splice(0);
  }
}
