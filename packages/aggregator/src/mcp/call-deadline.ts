// How long a call may take: its class's time, begun again by progress, standing still while a human is asked. [AX-7.3-1]
import type { LatencyClass } from "@mcpx/protocol";

const once = { once: true } as const;

/** `undefined`: as long as the caller waits. */
export const classMs: Readonly<Record<LatencyClass, number | undefined>> = {
  realtime: 500,
  fast: 5_000,
  standard: 30_000,
  slow: 120_000,
  batch: undefined,
};

/** `end` must be called. The signal aborts with `late()`, or with the outer signal's reason. */
export class CallDeadline {
  readonly #ms: number | undefined;
  readonly #outer: AbortSignal;
  readonly #late: () => Error;
  readonly #stop = new AbortController();
  // A function, as for every signal of a call: an object that listens costs Node several times as much.
  readonly #onOuter = () => this.#stop.abort(this.#outer.reason);
  #timer: NodeJS.Timeout | undefined;
  #pauses = 0;
  #wasPaused = false;

  constructor(ms: number | undefined, outer: AbortSignal, late: () => Error) {
    this.#ms = ms;
    this.#outer = outer;
    this.#late = late;
    if (outer.aborted) this.#onOuter();
    else outer.addEventListener("abort", this.#onOuter, once);
    this.#start();
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Somebody was asked meanwhile. */
  get wasPaused(): boolean {
    return this.#wasPaused;
  }

  /** Begins the time again after progress. */
  extend(): void {
    if (this.#pauses === 0) this.#timer?.refresh();
  }

  /** Does not count the time `work` takes. */
  async pausedFor<T>(work: Promise<T>): Promise<T> {
    this.#pauses += 1;
    this.#wasPaused = true;
    clearTimeout(this.#timer);
    try {
      return await work;
    } finally {
      this.#pauses -= 1;
      if (this.#pauses === 0 && !this.signal.aborted) this.#start();
    }
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#outer.removeEventListener("abort", this.#onOuter);
    // A pause that ends later must not start the time again.
    this.#pauses = Number.POSITIVE_INFINITY;
  }

  #start(): void {
    if (this.#ms !== undefined) this.#timer = setTimeout(() => this.#stop.abort(this.#late()), this.#ms);
  }
}
