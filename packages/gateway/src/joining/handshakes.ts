// New connections a second: a share for each who asks, and what there is for all. Who is refused, or asks too often,
// uses up its own share only. [X0-9-4]
import { McpxError } from "@mcpx/protocol";
import { type Bucket, take } from "../room/rates.ts";

/** Of the whole, for one. */
const share = 0.1;
const shareMin = 5;
/** Those without a bucket have a full one, so of too many the oldest may be forgotten. */
const askersMax = 10_000;
/** After this long unused a bucket is full again: it holds a second's worth. */
const forgetAfterMs = 1_000;

export class Handshakes {
  readonly #perSecond: number;
  readonly #perSecondOfOne: number;
  readonly #ofAll: Bucket;
  readonly #byAsker = new Map<string, Bucket>();

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
    this.#perSecondOfOne = Math.min(perSecond, Math.max(shareMin, perSecond * share));
    this.#ofAll = fullBucket();
  }

  /** How many are remembered. */
  get askers(): number {
    return this.#byAsker.size;
  }

  chargeOne(asker: string, nowMs: number): void {
    charge(this.#bucketOf(asker), this.#perSecondOfOne, nowMs, " for one participant");
  }

  chargeAll(nowMs: number): void {
    charge(this.#ofAll, this.#perSecond, nowMs, "");
  }

  sweep(nowMs: number): void {
    for (const [asker, { atMs }] of this.#byAsker) {
      if (nowMs - atMs >= forgetAfterMs) this.#byAsker.delete(asker);
    }
  }

  #bucketOf(asker: string): Bucket {
    const known = this.#byAsker.get(asker);
    if (known !== undefined) return known;
    if (this.#byAsker.size >= askersMax) this.#forgetOldest();
    const fresh = fullBucket();
    this.#byAsker.set(asker, fresh);
    return fresh;
  }

  #forgetOldest(): void {
    const [oldest] = this.#byAsker.keys();
    if (oldest !== undefined) this.#byAsker.delete(oldest);
  }
}

/** No more than the burst counts, whatever time it is. */
function fullBucket(): Bucket {
  return { tokens: Number.POSITIVE_INFINITY, atMs: 0 };
}

function charge(bucket: Bucket, perSecond: number, nowMs: number, whose: string): void {
  const taken = take(bucket, { perSecond, burst: perSecond }, nowMs);
  if (taken.ok) return;
  const { retryAfterMs } = taken;
  throw new McpxError("too_many_connections", `the limit is ${perSecond} handshakes a second${whose}`, {
    retryAfterMs,
  });
}
