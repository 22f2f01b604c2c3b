// The oldest records of the audit end: the chain goes on from where they ended, and says itself what was taken out of it.
import type { DatabaseSync } from "node:sqlite";
import { immediately } from "../sqlite/transaction.ts";
import {
  type AuditRow,
  appendRows,
  type Pruned,
  prunedAction,
  prunedDetail,
  readHead,
  readPruned,
} from "./chain.ts";

export interface AuditRetention {
  /** More than these are pruned, oldest first. */
  recordsMax: number;
  /** Older ones are pruned. */
  keepMs: number;
}

/** So many at once: each turn holds the store for some tens of milliseconds. */
const turnMax = 10_000;
/** Pruning itself is a record: it is not done for less than this. */
const turnMin = 100;

/** What is too many or too old at this moment; to be called again and again. Says what it has pruned, if anything. */
export function pruneAudit(
  db: DatabaseSync,
  { recordsMax, keepMs }: AuditRetention,
  now: number,
): Pruned | undefined {
  const before = readPruned(db);
  const first = (before?.to ?? 0) + 1;
  const { seq: last } = readHead(db);
  // Times may go back a little with the clock: what comes after the first that is young enough stays.
  const young = db.prepare("SELECT seq FROM audit WHERE at >= ? ORDER BY seq LIMIT 1").get(now - keepMs);
  const wanted = Math.max(last - recordsMax, Number(young?.seq ?? last + 1) - 1);
  const to = Math.min(wanted, first + turnMax - 1);
  if (to - first + 1 < turnMin) return undefined;
  return immediately(db, () => {
    const hash = db.prepare("SELECT hash FROM audit WHERE seq = ?").get(to)?.hash;
    // Another process was quicker, or the chain has a hole: that is for `verify` to find.
    if (typeof hash !== "string" || (readPruned(db)?.to ?? 0) >= to) return undefined;
    const pruned: Pruned = { to, hash, at: now };
    db.prepare("DELETE FROM audit WHERE seq <= ?").run(to);
    db.prepare("INSERT OR REPLACE INTO host_settings (name, value) VALUES ('audit_pruned', ?)").run(
      JSON.stringify(pruned),
    );
    appendRows(db, [record(pruned)]);
    return pruned;
  });
}

/** The chain covers it: a checkpoint that no record speaks of is none. */
function record({ to, hash, at }: Pruned): AuditRow {
  const none = { reason: null, actor: null, subject: null, topic: null };
  return { at, action: prunedAction, ...none, detail: prunedDetail({ to, hash }), count: 1 };
}
