// Used budgets as a store keeps them: monotonic times become those of the wall clock, and back.
import type { Clock } from "@mcpx/host";
import type { StoredUse } from "./store.ts";
import type { BudgetUse } from "./use.ts";
import { CallWindow } from "./window.ts";

export function storedUse(subserverId: string, use: BudgetUse, clock: Clock): StoredUse {
  const now = clock.monotonic();
  const wall = clock.now();
  const at = (monotonic: number) => Math.ceil(wall - (now - monotonic));
  const { mutableCalls, costUnits, calls, seenAt } = use;
  return {
    subserverId,
    mutableCalls,
    costUnits,
    calls: calls.counts(now).map(([when, count]) => [at(when), count]),
    seenAt: at(seenAt),
  };
}

/** What lies in the future was a moment ago: a wall clock that was set back makes nothing free. */
export function useOf({ mutableCalls, costUnits, calls, seenAt }: StoredUse, clock: Clock): BudgetUse {
  const now = clock.monotonic();
  const wall = clock.now();
  const monotonic = (at: number) => now - Math.max(0, wall - at);
  return {
    mutableCalls,
    costUnits,
    calls: new CallWindow(calls.map(([at, count]) => [monotonic(at), count])),
    seenAt: monotonic(seenAt),
  };
}
