// The system's clock, whose two hands can each be set by somebody else while it runs.
import { type Clock, systemClock } from "@mcpx/host";

export interface SteppedClock extends Clock {
  /** As an operator or a time server does. */
  stepWall(ms: number): void;
  /** What no system does; for controls. */
  stepMonotonic(ms: number): void;
}

export function createSteppedClock(): SteppedClock {
  let wallMs = 0;
  let monotonicMs = 0;
  return {
    now: () => systemClock.now() + wallMs,
    monotonic: () => systemClock.monotonic() + monotonicMs,
    stepWall: (ms) => {
      wallMs += ms;
    },
    stepMonotonic: (ms) => {
      monotonicMs += ms;
    },
  };
}
