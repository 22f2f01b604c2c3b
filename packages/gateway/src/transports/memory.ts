// A room connection inside this process: the same bounds, codes and checks as over a WebSocket, without bytes.
import { closeCodes, type Limits, McpxError } from "@mcpx/protocol";
import type { Slice } from "../delivery/batch.ts";
import type { RoomSocket, SocketEvents } from "./socket.ts";

/** The other end, as a standard WebSocket looks to its client. */
export interface MemoryEnd {
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(text: string): void;
  close(code?: number, reason?: string): void;
}

interface Listeners {
  onmessage: ((event: { data: string }) => void) | null;
  onclose: ((event: { code: number; reason: string }) => void) | null;
}

export class MemorySocket implements RoomSocket {
  readonly far: MemoryEnd;
  queuedBytes = 0;
  readonly #limits: Limits;
  readonly #monotonic: () => number;
  readonly #events: SocketEvents;
  #outgoing: string[] = [];
  /** Sent while the room does not read. */
  #incoming: string[] = [];
  #incomingBytes = 0;
  #progressAt: number;
  #isPaused = false;
  #isScheduled = false;
  #ending: { code: number; reason: string } | undefined;
  #isEnded = false;
  #waiting: (() => void)[] = [];

  constructor(limits: Limits, monotonic: () => number, events: SocketEvents) {
    this.#limits = limits;
    this.#monotonic = monotonic;
    this.#events = events;
    this.#progressAt = monotonic();
    this.far = {
      onopen: null,
      onmessage: null,
      onclose: null,
      onerror: null,
      send: (text) => this.#take(text),
      close: () => this.close(closeCodes.normal, ""),
    };
  }

  get queuedEnvelopes(): number {
    return this.#outgoing.length;
  }

  stalledMs(): number {
    return this.queuedBytes === 0 ? 0 : this.#monotonic() - this.#progressAt;
  }

  /** A member in this process is always reachable. */
  silentMs(): number {
    return 0;
  }

  write(slices: readonly Slice[]): void {
    if (this.#ending !== undefined) return;
    if (this.queuedBytes === 0) this.#progressAt = this.#monotonic();
    for (const { batch, start, end } of slices) {
      for (let i = start; i < end; i += 1) {
        const text = batch.texts[i] as string;
        this.#outgoing.push(text);
        this.queuedBytes += Buffer.byteLength(text);
      }
    }
    this.#schedule();
  }

  drained(): Promise<void> {
    const { queueBytesMax, queueEnvelopesMax } = this.#limits;
    const hasSpace = this.queuedBytes <= queueBytesMax / 2 && this.queuedEnvelopes <= queueEnvelopesMax / 2;
    if (this.#isEnded || hasSpace) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** One of ours: nobody has to wait for it. */
  turn(): undefined {
    return undefined;
  }

  ping(): void {}

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#schedule();
  }

  close(code: number, reason: string): void {
    if (this.#ending !== undefined) return;
    this.#ending = { code, reason };
    this.#incoming = [];
    this.#schedule();
  }

  destroy(): void {
    this.#ending ??= { code: 1006, reason: "" };
    this.#outgoing = [];
    this.#end();
  }

  #take(text: unknown): void {
    if (this.#ending !== undefined) return;
    if (!this.#isPaused && this.#incoming.length === 0) {
      this.#hand(text);
      return;
    }
    this.#incoming.push(text as string);
    this.#incomingBytes += typeof text === "string" ? Buffer.byteLength(text) : 0;
    const { queueBytesMax, queueEnvelopesMax } = this.#limits;
    // There is no kernel here in which it could wait.
    if (this.#incomingBytes > queueBytesMax || this.#incoming.length > queueEnvelopesMax) {
      this.close(closeCodes.tooSlow, "too_slow");
    }
  }

  #hand(text: unknown): void {
    const fault = faultOf(text, this.#limits);
    if (fault === undefined) this.#events.text(text as string);
    else this.#events.fault(fault, false);
  }

  /** In a turn of its own, so that neither side ever runs inside the other. */
  #schedule(): void {
    if (this.#isScheduled || this.#isEnded) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#turn();
    });
  }

  #turn(): void {
    const texts = this.#outgoing;
    this.#outgoing = [];
    this.queuedBytes = 0;
    this.#progressAt = this.#monotonic();
    const listeners = this.far as unknown as Listeners;
    for (const data of texts) listeners.onmessage?.({ data });
    this.#release();
    while (!this.#isPaused && this.#ending === undefined && this.#incoming.length > 0) {
      this.#hand(this.#incoming.shift());
    }
    if (this.#incoming.length === 0) this.#incomingBytes = 0;
    if (this.#ending === undefined) return;
    // What was written meanwhile still comes before the end.
    if (this.#outgoing.length > 0) this.#schedule();
    else this.#end();
  }

  #release(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.queuedBytes = 0;
    this.#release();
    this.#events.closed();
    const listeners = this.far as unknown as Listeners;
    listeners.onclose?.(this.#ending as { code: number; reason: string });
  }
}

function faultOf(text: unknown, { envelopeBytesMax }: Limits): McpxError | undefined {
  if (typeof text !== "string") return new McpxError("not_text", "a binary frame holds no envelope");
  const bytes = Buffer.byteLength(text);
  if (bytes > envelopeBytesMax) {
    return new McpxError("too_large", `${bytes} bytes; the limit is ${envelopeBytesMax}`);
  }
  return text.isWellFormed() ? undefined : new McpxError("bad_utf8", "the frame is not valid UTF-8");
}
