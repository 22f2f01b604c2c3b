// How long to wait before the next attempt: exponential, capped, and jittered where a crowd would come back as one.
// Pure: the chance is given.

export interface BackoffOptions {
  /** The first wait, about. */
  minMs: number;
  /** No wait is longer. */
  maxMs: number;
}

/** Between half and all of `minMs · 2^attempt`, at most `maxMs`; attempts count from 0. All of it without a chance. */
export function backoffMs(attempt: number, { minMs, maxMs }: BackoffOptions, chance = 1): number {
  const full = Math.min(maxMs, minMs * 2 ** Math.min(attempt, 30));
  return Math.round(full / 2 + (full / 2) * chance);
}
