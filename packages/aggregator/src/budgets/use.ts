// What calls into one subserver have used, and whether one more fits. Pure: the time is handed in, monotonic ms.
import { type Budget, McpxError } from "@mcpx/protocol";
import type { CallWindow } from "./window.ts";

/** Counted whether there is a limit or not: one that is set later finds what was used before. */
export interface BudgetUse {
  mutableCalls: number;
  costUnits: number;
  readonly calls: CallWindow;
  /** When it was last here. */
  seenAt: number;
}

export interface Charge {
  isMutable: boolean;
  costUnits: number;
}

export type BudgetUsage = { [K in keyof Budget]: { limit: number; used: number } };

/** Takes all of it, or throws `budget_exceeded` and takes nothing. [AX-11.4-1] */
export function take(use: BudgetUse, budget: Budget, charge: Charge, now: number): void {
  checkFits(use, budget, charge, now);
  use.calls.add(now);
  use.costUnits += charge.costUnits;
  if (charge.isMutable) use.mutableCalls += 1;
}

/** Throws `budget_exceeded` where `take` would. */
export function checkFits(
  use: BudgetUse,
  budget: Budget,
  { isMutable, costUnits }: Charge,
  now: number,
): void {
  // Budgets that do not refill with time come first: no caller is told to wait where waiting does not help.
  const { max_mutable_calls_per_session: mutableMax, max_cost_units_per_session: unitsMax } = budget;
  if (mutableMax !== undefined && isMutable && !(use.mutableCalls < mutableMax)) {
    throw exceeded("max_mutable_calls_per_session", mutableMax, use.mutableCalls);
  }
  if (unitsMax !== undefined && costUnits > 0 && !(use.costUnits + costUnits <= unitsMax)) {
    throw exceeded("max_cost_units_per_session", unitsMax, use.costUnits);
  }
  const { max_calls_per_minute: callsMax } = budget;
  if (callsMax !== undefined) {
    use.calls.holdFor(callsMax);
    const used = use.calls.count(now);
    if (!(used < callsMax)) {
      const retryAfterMs = callsMax >= 1 ? Math.ceil(use.calls.freeAt(callsMax) - now) : undefined;
      throw exceeded("max_calls_per_minute", callsMax, used, retryAfterMs);
    }
  }
}

/** How much of each limited budget is used. */
export function usageOf(use: BudgetUse | undefined, budget: Budget, now: number): BudgetUsage {
  const { max_calls_per_minute, max_mutable_calls_per_session, max_cost_units_per_session } = budget;
  return {
    ...(max_calls_per_minute !== undefined && {
      max_calls_per_minute: { limit: max_calls_per_minute, used: use?.calls.count(now) ?? 0 },
    }),
    ...(max_mutable_calls_per_session !== undefined && {
      max_mutable_calls_per_session: { limit: max_mutable_calls_per_session, used: use?.mutableCalls ?? 0 },
    }),
    ...(max_cost_units_per_session !== undefined && {
      max_cost_units_per_session: { limit: max_cost_units_per_session, used: use?.costUnits ?? 0 },
    }),
  };
}

function exceeded(budget: keyof Budget, limit: number, used: number, retryAfterMs?: number): McpxError {
  return new McpxError(
    "budget_exceeded",
    `the budget ${budget} does not cover this call: ${used} of ${limit} are used`,
    {
      data: { budget, limit, used },
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    },
  );
}
