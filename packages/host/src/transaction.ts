// One write transaction, begun at once so that two processes never hold half of one each.
import type { DatabaseSync } from "node:sqlite";

export function immediately<T>(db: DatabaseSync, work: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    // A full disk may have rolled back already; a second ROLLBACK would hide the first error.
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

/** A number that changes when another connection has written. Costs one PRAGMA, no table read. */
export function dataVersion(db: DatabaseSync): number {
  return Number(db.prepare("PRAGMA data_version").get()?.data_version);
}
