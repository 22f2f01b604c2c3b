// How long a call may take: its class's time, begun again by progress, standing still while a human is asked. [AX-7.3-1]
import type { LatencyClass } from "@mcpx/protocol";

/** `undefined`: as long as the caller waits. */
export const classMs: Readonly<Record<LatencyClass, number | undefined>> = {
  realtime: 500,
  fast: 5_000,
  standard: 30_000,
  slow: 120_000,
  batch: undefined,
};

export interface Patience {
  readonly signal: AbortSignal;
  /** Somebody was asked meanwhile. */
  readonly wasPaused: boolean;
  /** There was a sign of life. */
  extend(): void;
  /** Does not count the time `work` takes. */
  pausedFor<T>(work: Promise<T>): Promise<T>;
  end(): void;
}

/** `end` must be called. The signal aborts with `late()`, or with the outer signal's reason. */
export function createPatience(ms: number | undefined, outer: AbortSignal, late: () => Error): Patience {
  const stop = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let pauses = 0;
  let wasPaused = false;
  const start = () => {
    if (ms !== undefined) timer = setTimeout(() => stop.abort(late()), ms);
  };
  const onOuter = () => stop.abort(outer.reason);
  if (outer.aborted) onOuter();
  else outer.addEventListener("abort", onOuter, { once: true });
  start();
  return {
    signal: stop.signal,
    get wasPaused() {
      return wasPaused;
    },
    extend: () => void (pauses === 0 && timer?.refresh()),
    async pausedFor(work) {
      pauses += 1;
      wasPaused = true;
      clearTimeout(timer);
      try {
        return await work;
      } finally {
        pauses -= 1;
        if (pauses === 0 && !stop.signal.aborted) start();
      }
    },
    end() {
      clearTimeout(timer);
      outer.removeEventListener("abort", onOuter);
      // A pause that ends later must not start the time again.
      pauses = Number.POSITIVE_INFINITY;
    },
  };
}
