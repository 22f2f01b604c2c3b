// One gateway per data directory. The lock is SQLite's on an empty file: the system itself lets go of it when the
// process ends, however it ends, so there is no stale one and no process number to mistake.
import { closeSync, existsSync, openSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

export interface DataLock {
  release(): void;
}

const busyCode = 5;
/** Somebody only looking holds it for less. */
const lookMs = 500;

/** The lock, or `undefined` where another process has it. */
export function takeLock(dataDir: string): DataLock | undefined {
  const path = lockPath(dataDir);
  closeSync(openSync(path, "a", 0o600));
  const db = new DatabaseSync(path, { timeout: lookMs });
  try {
    db.exec("BEGIN EXCLUSIVE");
    return { release: () => db.close() };
  } catch (error) {
    db.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
}

export function isLocked(dataDir: string): boolean {
  const path = lockPath(dataDir);
  if (!existsSync(path)) return false;
  const db = new DatabaseSync(path, { readOnly: true, timeout: 0 });
  try {
    db.prepare("SELECT 1 FROM sqlite_schema").get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    db.close();
  }
}

function lockPath(dataDir: string): string {
  return join(dataDir, "gateway.lock");
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && (Number(error.errcode) & 0xff) === busyCode;
}
