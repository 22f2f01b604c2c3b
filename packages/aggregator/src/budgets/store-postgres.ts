// What budgets have been used up, on PostgreSQL. One statement writes all of a batch, or nothing of it.
import { askPostgres, bigintArray, byteaArray, type PostgresSession, textArray } from "@mcpx/host";
import type { BudgetStore, StoredUse } from "./store.ts";

type UseRow = [holder: Buffer, mutableCalls: number, costUnits: number, calls: string, seenAt: number];

const all = {
  name: "budgets-all",
  text: "SELECT subserver_id, mutable_calls, cost_units, calls, seen_at FROM budget_uses",
};

const write = {
  name: "budgets-write",
  text: `
    WITH forgotten AS (DELETE FROM budget_uses WHERE subserver_id = ANY ($6::bytea[]))
    INSERT INTO budget_uses (subserver_id, mutable_calls, cost_units, calls, seen_at)
    SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::text[]::float8[], $4::text[], $5::bigint[])
    ON CONFLICT (subserver_id) DO UPDATE SET mutable_calls = excluded.mutable_calls,
      cost_units = excluded.cost_units, calls = excluded.calls, seen_at = excluded.seen_at`,
};

/** The store has the tables of `treeOnPostgres`; the session is closed by the code that opened it. */
export function createPostgresBudgetStore(session: PostgresSession): BudgetStore {
  return {
    all: async () => (await askPostgres<UseRow>(session, all)).map(storedUse),
    async write(uses, forgotten) {
      await askPostgres(session, write, [
        byteaArray(uses.map(({ subserverId }) => Buffer.from(subserverId))),
        bigintArray(uses.map(({ mutableCalls }) => mutableCalls)),
        textArray(uses.map(({ costUnits }) => String(costUnits))),
        textArray(uses.map(({ calls }) => JSON.stringify(calls))),
        bigintArray(uses.map(({ seenAt }) => seenAt)),
        byteaArray(forgotten.map((holder) => Buffer.from(holder))),
      ]);
    },
  };
}

function storedUse([holder, mutableCalls, costUnits, calls, seenAt]: UseRow): StoredUse {
  return {
    subserverId: holder.toString(),
    mutableCalls,
    costUnits,
    calls: JSON.parse(calls) as StoredUse["calls"],
    seenAt,
  };
}
