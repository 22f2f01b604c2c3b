// A participant that comes back: it resumes where it was and sends again what was not acknowledged. What a good
// client does, in as few lines as tests need.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import WebSocket from "ws";

export interface Delivered {
  seq: number;
  id: string;
  from: string;
  text: string;
}

export class ResumingClient {
  /** Own and others' envelopes, in the order of their seq as this client was told. */
  readonly seen: Delivered[] = [];
  /** Acknowledged ids and their seq. */
  readonly acked = new Map<string, number>();
  readonly unacked = new Map<string, string>();
  /** Sentences about what should never happen. */
  readonly faults: string[] = [];
  connects = 0;
  position: { epoch: string; seq: number } | undefined;
  ws: WebSocket | undefined;
  isDone = false;
  readonly #address: () => string;
  readonly #token: string;

  constructor(address: () => string, token: string) {
    this.#address = address;
    this.#token = token;
  }

  /** Runs until `stop`; reconnects as often as needed. */
  async run(): Promise<void> {
    while (!this.isDone) {
      await this.#session();
      if (!this.isDone) await sleep(5 + Math.random() * 20);
    }
  }

  publish(text: string): string {
    const id = randomUUID();
    const envelope = JSON.stringify({ protocol: "mcpx/v0.1", id, kind: "chat", payload: { text } });
    this.unacked.set(id, envelope);
    if (this.ws?.readyState === WebSocket.OPEN) this.ws.send(envelope);
    return id;
  }

  cut(): void {
    this.ws?.terminate();
  }

  stop(): void {
    this.isDone = true;
    this.ws?.terminate();
  }

  #session(): Promise<void> {
    const resume = this.position === undefined ? "" : `&resume=${this.position.epoch}:${this.position.seq}`;
    const ws = new WebSocket(`${this.#address()}&seq=1${resume}`, {
      headers: { authorization: `Bearer ${this.#token}` },
    });
    this.ws = ws;
    return new Promise((resolve) => {
      ws.on("message", (data) => this.#take(JSON.parse(String(data)), ws));
      ws.on("error", () => {});
      ws.on("close", () => resolve());
    });
  }

  // biome-ignore lint/suspicious/noExplicitAny: envelopes of any shape
  #take(envelope: any, ws: WebSocket): void {
    const { payload } = envelope;
    if (payload.event === "welcome") this.#welcomed(payload, ws);
    if (payload.event === "ack") this.#acked(payload);
    if (envelope.seq === undefined) return;
    this.#advance(envelope.seq, envelope.id);
    this.seen.push({ seq: envelope.seq, id: envelope.id, from: envelope.from, text: payload.text });
  }

  // biome-ignore lint/suspicious/noExplicitAny: envelopes of any shape
  #welcomed(payload: any, ws: WebSocket): void {
    this.connects += 1;
    if (this.position !== undefined && payload.resumed !== true) {
      this.faults.push(`not resumed: ${payload.reason}`);
    }
    this.position ??= { epoch: payload.history.epoch, seq: payload.history.seq };
    for (const text of this.unacked.values()) ws.send(text);
  }

  #acked({ id, seq }: { id: string; seq: number }): void {
    const before = this.acked.get(id);
    if (before !== undefined && before !== seq) this.faults.push(`${id} acked as ${before} and as ${seq}`);
    this.acked.set(id, seq);
    this.unacked.delete(id);
    // An ack of something sent twice may speak of the past; only the next one moves us on.
    if (this.position !== undefined && seq > this.position.seq) this.#advance(seq, id);
  }

  #advance(seq: number, id: string): void {
    if (this.position === undefined) return;
    if (seq !== this.position.seq + 1) this.faults.push(`${id} came as ${seq} after ${this.position.seq}`);
    this.position.seq = Math.max(seq, this.position.seq);
  }
}
