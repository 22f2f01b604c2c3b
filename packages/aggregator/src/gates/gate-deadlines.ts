// Times of what outlives the process, by monotonic time as long as it lives: no step of the wall clock ends or prolongs
// them. After a restart the wall clock says how much is left, and never more than there was.
import type { Clock } from "@mcpx/host";

export interface Deadlines {
  /** `fromMs` and `untilMs` are wall clock, and always the same for the same key. */
  isOver(key: string, fromMs: number, untilMs: number): boolean;
  forget(key: string): void;
}

export function createDeadlines(clock: Clock): Deadlines {
  const ends = new Map<string, number>();
  return {
    isOver(key, fromMs, untilMs) {
      const now = clock.monotonic();
      let end = ends.get(key);
      if (end === undefined) {
        end = now + Math.min(untilMs - clock.now(), untilMs - fromMs);
        ends.set(key, end);
      }
      return end <= now;
    },
    forget(key) {
      ends.delete(key);
    },
  };
}
