// When a child that ends again and again is left alone for a while. Pure.
import { backoffMs } from "@mcpx/protocol";

export interface CrashLoop {
  /** Ends that came soon after the beginning (monotonic ms). */
  deaths: readonly number[];
  /** How often it has been left alone in a row. */
  trips: number;
}

const deathsMax = 5;
const windowMs = 60_000;
const backoff = { minMs: 30_000, maxMs: 600_000 };

/** How long it is left alone now; `undefined` where it may begin again at once. */
export function noteDeath(loop: CrashLoop, now: number, livedMs: number): number | undefined {
  if (livedMs >= windowMs) {
    loop.deaths = [];
    loop.trips = 0;
    return undefined;
  }
  loop.deaths = [...loop.deaths.filter((at) => now - at < windowMs), now];
  // Once it is known for it, the first one counts.
  if (loop.deaths.length < deathsMax && loop.trips === 0) return undefined;
  loop.deaths = [];
  loop.trips += 1;
  return backoffMs(loop.trips - 1, backoff);
}
