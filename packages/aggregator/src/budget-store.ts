// What budgets have been used up, beyond one process' life. Written in batches, read once at the start; see the
// siblings for where.
import type { CallCount } from "./budget-window.ts";

/** All times are ms since 1970. */
export interface StoredUse {
  subserverId: string;
  mutableCalls: number;
  costUnits: number;
  /** Of its last minute, oldest first. */
  calls: readonly CallCount[];
  /** When it was last here. */
  seenAt: number;
}

export interface BudgetStore {
  all(): StoredUse[];
  /** All of it or nothing. */
  write(uses: readonly StoredUse[], forgotten: readonly string[]): void;
}
