// Time as a value that is handed in, so that tests decide what time it is.

export interface Clock {
  /** Wall clock, ms since 1970: only for what people and tokens read. */
  now(): number;
  /** Ms that never go back: for every limit, lease and timeout. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/** A clock that stands still until it is moved. */
export interface ManualClock extends Clock {
  advance(ms: number): void;
}

export function createManualClock(startMs = Date.UTC(2030, 0, 1)): ManualClock {
  let elapsedMs = 0;
  return {
    now: () => startMs + elapsedMs,
    monotonic: () => elapsedMs,
    advance(ms) {
      elapsedMs += ms;
    },
  };
}
