// The system's clock, whose seconds since the start can be skipped: what is counted by the minute begins anew.
import { type Clock, systemClock } from "@mcpx/host";

let skippedMs = 0;

export const leapingClock: { clock: Clock; leap(): void } = {
  clock: { ...systemClock, monotonic: () => systemClock.monotonic() + skippedMs },
  leap() {
    skippedMs += 61_000;
  },
};
