// What was published and not yet acknowledged. It is sent again with the same id on every new connection until the
// gateway has said yes or no, so nothing is lost and nothing comes twice. [X0-4-3]
import type { RoomEnvelope } from "../core/room-envelope.ts";
import { RoomError } from "../core/room-error.ts";
import type { RoomSigning, Sealed } from "../signing/room-signing.ts";

/** Where an envelope stands in its topic. Only what the gateway keeps for itself has no `seq`. */
export interface Receipt {
  id: string;
  seq: number | undefined;
  at: string;
}

interface Item {
  envelope: RoomEnvelope;
  /** The envelope's text before it is signed. */
  text: string;
  /** What goes out; `undefined` until it is signed, which is done in the order of sending. */
  sealed: Sealed | undefined;
  /** It went out on a connection before this one: nobody knows whether it was published. */
  isInDoubt: boolean;
  /** When it went out on this connection; `undefined` while it waits. */
  sentAtMs: number | undefined;
  /** Means something only on this connection. */
  isPassing: boolean;
  promise: Promise<Receipt>;
  resolve: (receipt: Receipt) => void;
  reject: (error: Error) => void;
}

export interface OutboxOptions {
  /** Envelopes that may wait for their acknowledgement. */
  max: number;
  /** Envelopes on the way at one time. */
  windowMax: number;
  signing?: RoomSigning | undefined;
}

/** Once the gateway has complained, so many on the way: refusals count as faults there. */
const windowWhenLimited = 4;
/** Paced sending ends when nothing has waited for this long. */
const calmMs = 5_000;

export class Outbox {
  readonly #options: OutboxOptions;
  readonly #items = new Map<string, Item>();
  #send: ((text: string) => void) | undefined;
  #onTheWay = 0;
  /** Paced: this long between two, and not before then. */
  #pace: { everyMs: number; notBeforeMs: number } | undefined;
  #isLimited = false;
  #isSealing = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#items.size;
  }

  /** Since when the oldest envelope on the way has been waiting for its answer. */
  oldestSentAtMs(): number | undefined {
    for (const { sentAtMs } of this.#items.values()) if (sentAtMs !== undefined) return sentAtMs;
    return undefined;
  }

  /** What waits under its id already is not sent twice; another body needs another id. [X0-4-3] */
  publish(envelope: RoomEnvelope, { isPassing = false } = {}): Promise<Receipt> {
    const known = this.#items.get(envelope.id);
    if (known !== undefined) {
      const isSame = JSON.stringify({ ...envelope, ts: known.envelope.ts }) === known.text;
      return isSame
        ? known.promise
        : Promise.reject(new RoomError("id_conflict", "another envelope waits under this id"));
    }
    if (this.#items.size >= this.#options.max) {
      return Promise.reject(
        new RoomError("outbox_full", `${this.#options.max} envelopes wait for their acknowledgement`),
      );
    }
    const settling = Promise.withResolvers<Receipt>();
    const text = JSON.stringify(envelope);
    const sealed = this.#options.signing === undefined ? { text } : undefined;
    const item = { envelope, text, sealed, sentAtMs: undefined, isInDoubt: false, isPassing, ...settling };
    this.#items.set(envelope.id, item);
    this.#flush();
    return settling.promise;
  }

  /** Takes back what has not gone out yet; `false` where it is too late. */
  takeBack(id: string, error: Error): boolean {
    const item = this.#items.get(id);
    if (item === undefined || item.sentAtMs !== undefined) return false;
    this.#items.delete(id);
    this.#discard(item);
    item.reject(error);
    return true;
  }

  /** A connection is there: everything not acknowledged goes out, in order. */
  connect(send: (text: string) => void): void {
    this.#send = send;
    this.#flush();
  }

  disconnect(): void {
    this.#send = undefined;
    this.#stopTimer();
    this.#onTheWay = 0;
    for (const item of [...this.#items.values()]) {
      item.isInDoubt ||= item.sentAtMs !== undefined;
      item.sentAtMs = undefined;
      if (item.isPassing) this.#settle(item).reject(new RoomError("network", "the connection was lost"));
    }
  }

  /** The envelope that was acknowledged; `undefined` for what is not ours. */
  acked(id: string, receipt: Receipt, from?: string): RoomEnvelope | undefined {
    const item = this.#items.get(id);
    if (item === undefined || (from ?? item.envelope.from) !== item.envelope.from) return undefined;
    this.#settle(item).resolve(receipt);
    this.#flush();
    return item.envelope;
  }

  /** The gateway has refused it: for good, or until there is room for more. Whether it was ours. */
  refused(id: string, error: RoomError): boolean {
    const item = this.#items.get(id);
    if (item === undefined) return false;
    // Later ones may have been accepted, so it gets a new number; unless it may have been published under this one.
    if (error.reason !== "rate_limited" || !item.isInDoubt) this.#discard(item);
    if (error.reason !== "rate_limited") this.#settle(item).reject(error);
    else this.#slowDown(item, error.retryAfterMs ?? 1_000);
    this.#flush();
    return true;
  }

  /** Nothing more will be sent. */
  close(error: Error): void {
    this.disconnect();
    for (const item of [...this.#items.values()]) this.#settle(item).reject(error);
  }

  #settle(item: Item): Item {
    this.#items.delete(item.envelope.id);
    if (item.sentAtMs !== undefined) this.#onTheWay -= 1;
    return item;
  }

  #slowDown(item: Item, retryAfterMs: number): void {
    if (item.sentAtMs !== undefined) this.#onTheWay -= 1;
    item.sentAtMs = undefined;
    this.#isLimited = true;
    const everyMs = Math.min(10_000, Math.max(retryAfterMs * 1.25, this.#pace?.everyMs ?? 0));
    this.#pace = { everyMs, notBeforeMs: performance.now() + everyMs };
  }

  #flush(): void {
    if (this.#send === undefined || this.#timer !== undefined) return;
    const windowMax = this.#pace ? 1 : this.#isLimited ? windowWhenLimited : this.#options.windowMax;
    for (const item of this.#inOrder()) {
      if (item.sentAtMs !== undefined) continue;
      if (this.#onTheWay >= windowMax) return;
      const now = performance.now();
      if (this.#pace !== undefined && now - this.#pace.notBeforeMs > calmMs) this.#pace = undefined;
      if (this.#pace !== undefined && now < this.#pace.notBeforeMs) {
        this.#later(this.#pace.notBeforeMs - now);
        return;
      }
      if (item.sealed === undefined) {
        void this.#seal(item);
        return;
      }
      if (this.#pace !== undefined) this.#pace.notBeforeMs = now + this.#pace.everyMs;
      item.sentAtMs = now;
      this.#onTheWay += 1;
      this.#send(item.sealed.text);
    }
  }

  /** Signed ones first: their numbers are the lower ones. */
  #inOrder(): Iterable<Item> {
    const items = this.#items.values();
    if (this.#options.signing === undefined) return items;
    return [...items].sort((a, b) => Number(a.sealed === undefined) - Number(b.sealed === undefined));
  }

  async #seal(item: Item): Promise<void> {
    if (this.#isSealing) return;
    this.#isSealing = true;
    try {
      item.sealed = await this.#options.signing?.seal(item.envelope);
      if (!this.#items.has(item.envelope.id)) this.#discard(item);
    } catch (cause) {
      this.#settle(item).reject(new RoomError("bad_option", "the key could not sign", { cause }));
    }
    this.#isSealing = false;
    this.#flush();
  }

  #discard(item: Item): void {
    const { signing } = this.#options;
    if (signing === undefined || item.sealed === undefined) return;
    signing.discard(item.sealed);
    item.sealed = undefined;
  }

  #later(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#flush();
    }, ms);
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
