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
