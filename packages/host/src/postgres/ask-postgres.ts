// A statement that another transaction came before is tried again: nothing of it was done.
import { PostgresFault } from "./fault.ts";
import type { Statement, StatementValue } from "./run-statement.ts";
import type { PostgresSession } from "./session.ts";
import { storageRefusal } from "./storage-refusal.ts";

const triesMax = 8;

/** Rejects with an error for callers, who learn nothing about the store. */
export async function askPostgres<Row extends unknown[]>(
  session: PostgresSession,
  statement: Statement,
  values: readonly StatementValue[] = [],
): Promise<Row[]> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await session.query<Row>(statement, values);
    } catch (error) {
      const isPassing = error instanceof PostgresFault && ["duplicate", "conflict"].includes(error.kind);
      if (!isPassing || tries === triesMax) throw storageRefusal(error);
    }
  }
}
