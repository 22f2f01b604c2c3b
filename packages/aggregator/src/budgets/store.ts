// What budgets have been used up: written in batches, read once at the start. Here in `state.db`, in
// `store-postgres.ts` on PostgreSQL.
import type { DatabaseSync } from "node:sqlite";
import { immediately } from "@mcpx/host";
import type { CallCount } from "./window.ts";

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
  all(): Promise<StoredUse[]>;
  /** All of it or nothing. No holder is named twice. */
  write(uses: readonly StoredUse[], forgotten: readonly string[]): Promise<void>;
}

/** The database has the tables of `aggregatorMigrations`, and is closed by the code that opened it. */
export function createSqliteBudgetStore(db: DatabaseSync): BudgetStore {
  const all = db.prepare("SELECT subserver_id, mutable_calls, cost_units, calls, seen_at FROM budget_uses");
  const put = db.prepare(
    `INSERT OR REPLACE INTO budget_uses (subserver_id, mutable_calls, cost_units, calls, seen_at)
     VALUES (?, ?, ?, ?, ?)`,
  );
  const forget = db.prepare("DELETE FROM budget_uses WHERE subserver_id = ?");
  return {
    all: async () => all.all().map(storedUse),
    async write(uses, forgotten) {
      immediately(db, () => {
        for (const { subserverId, mutableCalls, costUnits, calls, seenAt } of uses) {
          put.run(subserverId, mutableCalls, costUnits, JSON.stringify(calls), seenAt);
        }
        for (const id of forgotten) forget.run(id);
      });
    },
  };
}

function storedUse(row: Record<string, unknown>): StoredUse {
  return {
    subserverId: String(row.subserver_id),
    mutableCalls: Number(row.mutable_calls),
    costUnits: Number(row.cost_units),
    calls: JSON.parse(String(row.calls)) as StoredUse["calls"],
    seenAt: Number(row.seen_at),
  };
}
