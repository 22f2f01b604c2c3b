// Goes along the audit chain, some records at a time: it may have millions, and others want their turn.
import { setImmediate } from "node:timers/promises";
import { type ChainedRow, type ChainVerdict, isRecordOf, noHash, type Pruned, rowHash } from "./chain.ts";
import type { AuditFilter, AuditStore } from "./store.ts";

export interface AuditQuery extends AuditFilter {
  /** Only records with a smaller number. */
  before?: number | undefined;
  limit: number;
}

const turnRows = 500;

/** Walks the whole chain, also while it grows and its beginning is pruned. */
export async function verifyChain(store: AuditStore): Promise<ChainVerdict> {
  let pruned: Pruned | undefined;
  // What was pruned is believed where the chain itself says so.
  let isSaid = true;
  let [seq, hash] = [0, noHash];
  for (;;) {
    const page = await store.page({ after: seq, limit: turnRows });
    if (page.pruned !== undefined && page.pruned.to > seq) {
      pruned = page.pruned;
      isSaid = false;
      [seq, hash] = [pruned.to, pruned.hash];
      continue;
    }
    for (const record of page.rows) {
      seq += 1;
      hash = rowHash(hash, seq, record);
      if (record.seq !== seq || record.hash !== hash) return { ok: false, at: seq };
      isSaid ||= pruned !== undefined && isRecordOf(record, pruned);
    }
    if (page.rows.length < turnRows) {
      if (!isSaid) return { ok: false, at: (pruned?.to ?? 0) + 1 };
      if (page.head.seq !== seq) return { ok: false, at: Math.min(page.head.seq, seq) + 1 };
      if (page.head.hash !== hash) return { ok: false, at: seq };
      const records = seq - (pruned?.to ?? 0);
      return { ok: true, records, head: hash, ...(pruned !== undefined && { pruned }) };
    }
    await setImmediate();
  }
}

/** Newest first. */
export async function listRows(store: AuditStore, query: AuditQuery): Promise<ChainedRow[]> {
  const { limit, before: wanted = Infinity, ...filter } = query;
  const { first, last } = await store.bounds();
  const rows: ChainedRow[] = [];
  let before = Math.min(wanted, last + 1);
  while (rows.length < limit && before > first) {
    const from = before - turnRows;
    rows.push(...(await store.search({ ...filter, from, before, limit: limit - rows.length })));
    before = from;
    if (rows.length < limit) await setImmediate();
  }
  return rows;
}

/** Oldest first. Times may go back where a clock did, so all are looked at. */
export async function firstSince(store: AuditStore, after: number, since: number): Promise<number> {
  const { first, last } = await store.bounds();
  for (let from = Math.max(after, first - 1); from < last; from += turnRows) {
    const found = await store.firstAt(since, from, from + turnRows);
    if (found !== undefined) return found;
    await setImmediate();
  }
  return last + 1;
}
