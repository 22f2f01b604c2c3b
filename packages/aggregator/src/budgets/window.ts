// The calls of the last minute, counted exactly: each one's time, as many as the largest limit needs. Pure: the time is
// handed in, monotonic ms.

const minuteMs = 60_000;
/** Calls within so much are kept as one entry by stores. */
const grainMs = 1_000;

/** When, and how many calls. */
export type CallCount = readonly [at: number, count: number];

export class CallWindow {
  readonly #times: number[];
  #first = 0;
  #max: number;

  /** From what a store has kept. */
  constructor(kept: readonly CallCount[] = []) {
    this.#times = kept.flatMap(([at, count]) => Array<number>(count).fill(at));
    this.#max = this.#times.length;
  }

  /** From now on so many of the newest are remembered. It never becomes less: what was used is not forgotten. */
  holdFor(limit: number): void {
    if (limit > this.#max) this.#max = limit;
  }

  /** In the minute that ends now; no more than are held. */
  count(now: number): number {
    while (this.#first < this.#times.length && this.#at(this.#first) + minuteMs <= now) this.#first += 1;
    this.#compact();
    return this.#times.length - this.#first;
  }

  add(now: number): void {
    if (this.#max === 0) return;
    this.#times.push(now);
    while (this.#times.length - this.#first > this.#max) this.#first += 1;
    this.#compact();
  }

  /** When the count falls below a limit of one or more that it has reached. */
  freeAt(limit: number): number {
    return this.#at(this.#times.length - limit) + minuteMs;
  }

  /** For a store. Each entry has the time of its latest call: nothing is free too early. */
  counts(now: number): CallCount[] {
    this.count(now);
    const counts: [number, number][] = [];
    let startedAt = Number.NEGATIVE_INFINITY;
    for (let i = this.#first; i < this.#times.length; i += 1) {
      const at = this.#at(i);
      const last = counts.at(-1);
      if (last !== undefined && at - startedAt < grainMs) {
        last[0] = at;
        last[1] += 1;
      } else {
        counts.push([at, 1]);
        startedAt = at;
      }
    }
    return counts;
  }

  #at(index: number): number {
    return this.#times[index] ?? Number.NEGATIVE_INFINITY;
  }

  /** Seldom, so that each call costs the same however many are held. */
  #compact(): void {
    if (this.#first < 32 || this.#first * 2 < this.#times.length) return;
    this.#times.splice(0, this.#first);
    this.#first = 0;
  }
}
