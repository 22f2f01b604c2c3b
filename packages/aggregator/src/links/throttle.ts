// So many a second and no more; what is too much is counted and told of, not more than once a second.

export class Throttle {
  readonly #rate: number;
  readonly #burst: number;
  readonly #tell: (dropped: number) => void;
  #left: number;
  #filledAtMs = performance.now();
  #dropped = 0;
  #telling: NodeJS.Timeout | undefined;

  constructor(rate: number, tell: (dropped: number) => void) {
    this.#rate = rate;
    this.#burst = rate * 4;
    this.#left = this.#burst;
    this.#tell = tell;
  }

  admits(): boolean {
    const nowMs = performance.now();
    this.#left = Math.min(this.#burst, this.#left + ((nowMs - this.#filledAtMs) * this.#rate) / 1_000);
    this.#filledAtMs = nowMs;
    if (this.#left >= 1) {
      this.#left -= 1;
      return true;
    }
    this.#dropped += 1;
    this.#telling ??= setTimeout(() => this.flush(), 1_000).unref();
    return false;
  }

  /** Tells what has been dropped since it was last told. */
  flush(): void {
    clearTimeout(this.#telling);
    this.#telling = undefined;
    const dropped = this.#dropped;
    this.#dropped = 0;
    if (dropped > 0) this.#tell(dropped);
  }
}
