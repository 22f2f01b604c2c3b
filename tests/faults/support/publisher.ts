// A participant that talks as fast as it is acknowledged, and remembers on its own side of the world what was. After
// a lost connection it sends again what was not, as clients shall: no ack means unknown.
import { vi } from "vitest";
import { enterWith } from "../../support/enter.ts";
import type { Seen, TestClient } from "../../support/test-client.ts";
import { timeout } from "./soak.ts";

export interface Acknowledged {
  id: string;
  text: string;
  seq: number;
  epoch: string;
}

export interface PublisherOptions {
  id: string;
  topic: string;
  token: string;
  /** Envelopes on their way at once. */
  window?: number;
  /** What the protocol asks for, or the mistake it is there to prevent. */
  resendWith?: "same ids" | "new ids";
}

export class Publisher {
  readonly acks: Acknowledged[] = [];
  /** Reasons, in the order they came. */
  readonly refusals: string[] = [];
  readonly #options: Required<PublisherOptions>;
  /** By id, in the order they were said. */
  readonly #open = new Map<string, string>();
  #client: TestClient | undefined;
  #said = 0;
  #isTalking = true;

  constructor(options: PublisherOptions) {
    this.#options = { window: 16, resendWith: "same ids", ...options };
  }

  /** Sends again what is open, then goes on talking. */
  async connect(url: string): Promise<void> {
    const { token, topic, resendWith } = this.#options;
    const client = await enterWith({ url }, token, { topic });
    this.#client = client;
    client.ws.on("message", (data) => {
      client.inbox.length = 0;
      client.texts.length = 0;
      this.#hear(JSON.parse(String(data)));
    });
    for (const [id, text] of [...this.#open]) {
      if (resendWith === "same ids") client.say(text, { id });
      else {
        this.#open.delete(id);
        this.#open.set(client.say(text), text);
      }
    }
    this.#talk();
  }

  /** Says nothing new; resolves once everything said was answered. */
  async finish(): Promise<void> {
    this.#isTalking = false;
    await vi.waitUntil(() => this.#open.size === 0, { timeout });
  }

  async lost(): Promise<void> {
    await vi.waitUntil(() => this.#client?.closed !== undefined, { timeout });
  }

  #talk(): void {
    while (this.#isTalking && this.#open.size < this.#options.window) {
      this.#said += 1;
      const text = `${this.#options.id} ${this.#said} ${"…".repeat(100)}`;
      const id = `${this.#options.id}-${this.#said}`;
      this.#open.set(id, text);
      this.#client?.say(text, { id });
    }
  }

  #hear({ payload, correlation_id: id }: Seen): void {
    const text = this.#open.get(id);
    if (text === undefined) return;
    if (payload.event !== "ack") {
      // What became of it is unknown: it stays open until the next connection.
      this.refusals.push(payload.error?.data.reason ?? payload.reason);
      return;
    }
    this.acks.push({ id, text, seq: payload.seq, epoch: payload.epoch });
    this.#open.delete(id);
    this.#talk();
  }
}
