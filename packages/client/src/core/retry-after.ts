// How long the other side wants us to wait. It is believed up to a limit.

/** As long as the longest lease. */
const retryAfterMsMax = 600_000;

export function retryAfter(ms: unknown): { retryAfterMs?: number } {
  if (typeof ms !== "number" || !(ms > 0)) return {};
  return { retryAfterMs: Math.min(ms, retryAfterMsMax) };
}
