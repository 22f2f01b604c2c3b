// Where to go next, and when: the same aggregator until its lease is over, then its backups in turn. Pure: what is
// known of time and chance is given. [AX-13.3-3]
import { type BackoffOptions, backoffMs } from "@mcpx/protocol";
import type { RoomError } from "../core/room-error.ts";
import { isFinal, isReplaced } from "./refusal.ts";

/** How the last attempt went. */
export interface Failure {
  error: RoomError;
  /** How long we were registered; `undefined`: not at all. */
  livedMs: number | undefined;
  /** Of the last registration, wherever it was. */
  leaseLeftMs: number;
}

const backoff: BackoffOptions = { minMs: 100, maxMs: 10_000 };
/** A registration that lived this long was a good one: the next loss begins anew. */
const goodMs = 5_000;

export class Itinerary {
  readonly #addresses: readonly string[];
  /** Addresses whose refusal was final. */
  readonly #closed = new Set<number>();
  #at = 0;
  #attempt = 0;
  #hasRegistered = false;

  constructor(addresses: readonly string[]) {
    this.#addresses = addresses;
  }

  get address(): string {
    return this.#addresses[this.#at] as string;
  }

  arrive(): void {
    this.#hasRegistered = true;
    this.#closed.clear();
  }

  /** Moves on; how long to wait before going to `address`. `undefined`: there is nowhere left to go. */
  next({ error, livedMs, leaseLeftMs }: Failure, chance: number): number | undefined {
    if (isReplaced(error)) return undefined;
    if (livedMs !== undefined && livedMs > goodMs) this.#attempt = 0;
    if (isFinal(error, this.#hasRegistered)) this.#closed.add(this.#at);
    if (this.#closed.size === this.#addresses.length) return undefined;
    const waitMs = error.retryAfterMs ?? backoffMs(this.#attempt, backoff, chance);
    this.#attempt += 1;
    if (this.#closed.has(this.#at)) {
      this.#moveOn();
      return Math.max(waitMs, leaseLeftMs);
    }
    // Who was just let go comes back first, except to one that has fallen silent.
    const isReturning = livedMs !== undefined && error.reason !== "timeout";
    if (isReturning || error.retryAfterMs !== undefined || waitMs < leaseLeftMs) return waitMs;
    this.#moveOn();
    return leaseLeftMs > 0 && this.#addresses.length > 1 ? leaseLeftMs : waitMs;
  }

  #moveOn(): void {
    do this.#at = (this.#at + 1) % this.#addresses.length;
    while (this.#closed.has(this.#at));
  }
}
