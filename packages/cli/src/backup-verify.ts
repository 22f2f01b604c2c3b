// Whether the stores in a directory can be used: SQLite's own check, and the audit chain's.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createAudit, createLogger, openState, systemClock } from "@mcpx/host";
import { storeFiles } from "./backup-copy.ts";
import { Failure } from "./failure.ts";

export interface StoreVerdict {
  file: string;
  /** Empty where it is sound. */
  problems: string[];
  audit?: { records: number; head: string };
}

export function verifyStores(dir: string): StoreVerdict[] {
  const present = storeFiles.filter((file) => existsSync(join(dir, file)));
  if (present.length === 0)
    throw new Failure(`there is no backup in ${dir}`, `it would hold ${storeFiles.join(" and ")}`);
  return present.map((file) => verifyStore(join(dir, file), file));
}

function verifyStore(path: string, file: string): StoreVerdict {
  const problems = [...integrityProblems(path)];
  if (file !== "state.db" || problems.length > 0) return { file, problems };
  const db = openState(path, { readOnly: true });
  try {
    const chain = createAudit({ db, clock: systemClock, log: createLogger({ level: "silent" }) }).verify();
    if (!chain.ok) return { file, problems: [`the audit chain is broken at record ${chain.at}`] };
    return { file, problems, audit: { records: chain.records, head: chain.head } };
  } finally {
    db.close();
  }
}

function integrityProblems(path: string): string[] {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
    const rows = db.prepare("PRAGMA integrity_check(20)").all();
    return rows.map((row) => String(row.integrity_check)).filter((text) => text !== "ok");
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  } finally {
    db?.close();
  }
}
