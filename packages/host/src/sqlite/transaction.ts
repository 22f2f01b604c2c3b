// One write transaction, begun at once so that two processes never hold half of one each.
import type { DatabaseSync } from "node:sqlite";
import { McpxError } from "@mcpx/protocol";

/** SQLite's own word for it, and an index of the write-ahead log that found no room to grow. */
const fullCodes = new Set<unknown>([13, 4_874]);

/** All of the work or nothing of it; throws `storage_full` where the disk has no room for it. */
export function immediately<T>(db: DatabaseSync, work: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    // A full disk may have rolled back already; a second ROLLBACK would hide the first error.
    if (db.isTransaction) db.exec("ROLLBACK");
    const isFull = error instanceof Error && "errcode" in error && fullCodes.has(error.errcode);
    throw isFull ? new McpxError("storage_full", undefined, { cause: error }) : error;
  }
}

/** The same, and on disk before it returns, whatever the rest of this store may lose in a power cut. */
export function durably<T>(db: DatabaseSync, work: () => T): T {
  const before = db.prepare("PRAGMA synchronous").get()?.synchronous;
  db.exec("PRAGMA synchronous = FULL");
  try {
    return immediately(db, work);
  } finally {
    db.exec(`PRAGMA synchronous = ${Number(before)}`);
  }
}

/** A number that changes when another connection has written. Costs one PRAGMA, no table read. */
export function dataVersion(db: DatabaseSync): number {
  return Number(db.prepare("PRAGMA data_version").get()?.data_version);
}
