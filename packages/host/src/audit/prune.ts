// The oldest records of the audit end: the chain goes on from where they ended, and says itself what was taken out of it.
import type { Pruned } from "./chain.ts";
import type { AuditStore } from "./store.ts";

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
export async function pruneAudit(
  store: AuditStore,
  { recordsMax, keepMs }: AuditRetention,
  now: number,
): Promise<Pruned | undefined> {
  const { first, last } = await store.bounds();
  // Times may go back a little with the clock: what comes after the first that is young enough stays.
  const young = await store.firstAt(now - keepMs, first - 1, first + turnMax);
  const wanted = Math.max(last - recordsMax, (young ?? last + 1) - 1);
  const to = Math.min(wanted, first + turnMax - 1);
  return to - first + 1 < turnMin ? undefined : store.prune(to, now);
}
