// The audit chain in the database: each record's hash covers the hash before it, and the head is kept apart.
// It shows tampering by whoever did not rewrite everything after it; keeping `head` elsewhere shows that too.
import { hash as digest } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";

/** A record as it is stored; `detail` is JSON text. */
export interface AuditRow {
  at: number;
  action: string;
  reason: string | null;
  actor: string | null;
  subject: string | null;
  topic: string | null;
  detail: string | null;
  count: number;
}

export interface ChainedRow extends AuditRow {
  seq: number;
  hash: string;
}

export type ChainVerdict =
  | { ok: true; records: number; head: string; pruned?: Pruned }
  /** `at`: the first number in the chain that is wrong or missing. */
  | { ok: false; at: number };

/** The end of what was taken out at the beginning of the chain. */
export interface Pruned {
  /** The last number. */
  to: number;
  /** Its hash: the next record's covers it. */
  hash: string;
  /** Ms since 1970. */
  at: number;
}

/** What the chain says of its own pruning. */
export const prunedAction = "audit.prune";

export function prunedDetail({ to, hash }: Pick<Pruned, "to" | "hash">): string {
  return JSON.stringify({ to, hash });
}

export interface AuditQuery {
  /** Only records with a smaller number. */
  before?: number | undefined;
  limit: number;
  /** A word, or a pattern in which `*` is any run. */
  action?: string | undefined;
  actor?: string | undefined;
  /** Ms since 1970: only records of then and later. */
  since?: number | undefined;
}

export interface AuditPageQuery {
  /** Only records with a greater number. */
  after: number;
  limit: number;
  since?: number | undefined;
}

export interface ChainHead {
  seq: number;
  hash: string;
}

/** The chain as it is stored, oldest first, and where it ends at the same moment. */
export interface AuditPage {
  rows: ChainedRow[];
  head: ChainHead;
  pruned?: Pruned;
}

/** What stands before the first record. */
export const noHash = "0".repeat(64);

const columns = "seq, at, action, reason, actor, subject, topic, detail, count, hash";

/** Adds rows to the end. The caller holds the write transaction: another process may append too. */
export function appendRows(db: DatabaseSync, rows: readonly AuditRow[]): void {
  const insert = db.prepare(`INSERT INTO audit (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  let { seq, hash } = readHead(db);
  for (const row of rows) {
    seq += 1;
    hash = rowHash(hash, seq, row);
    const { at, action, reason, actor, subject, topic, detail, count } = row;
    insert.run(seq, at, action, reason, actor, subject, topic, detail, count, hash);
  }
  db.prepare("INSERT OR REPLACE INTO audit_head (only, seq, hash) VALUES (1, ?, ?)").run(seq, hash);
}

/** So many rows are read at once; then others have their turn, because a chain may have millions. */
const turnRows = 500;

/** Walks the whole chain, also while it grows and its beginning is pruned. */
export async function verifyChain(db: DatabaseSync): Promise<ChainVerdict> {
  let pruned: Pruned | undefined;
  // What was pruned is believed where the chain itself says so.
  let isSaid = true;
  let [seq, hash] = [0, noHash];
  for (;;) {
    const page = pageRows(db, { after: seq, limit: turnRows });
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
export async function listRows(db: DatabaseSync, query: AuditQuery): Promise<ChainedRow[]> {
  const { limit, since = 0, action, actor } = query;
  const statement = db.prepare(
    `SELECT ${columns} FROM audit
     WHERE seq < ? AND seq >= ? AND at >= ? AND (? IS NULL OR action GLOB ?) AND (? IS NULL OR actor = ?)
     ORDER BY seq DESC LIMIT ?`,
  );
  const pattern = patternOf(action);
  const rows: ChainedRow[] = [];
  let before = Math.min(query.before ?? Infinity, lastSeq(db) + 1);
  while (rows.length < limit && before > (readPruned(db)?.to ?? 0) + 1) {
    const from = before - turnRows;
    const asked = [before, from, since, action ?? null, pattern, actor ?? null, actor ?? null];
    rows.push(...(statement.all(...asked, limit - rows.length) as unknown as ChainedRow[]));
    before = from;
    if (rows.length < limit) await setImmediate();
  }
  return rows;
}

/** Oldest first. Times may go back where a clock did, so all are looked at. */
export async function firstSince(db: DatabaseSync, after: number, since: number): Promise<number> {
  const statement = db.prepare("SELECT min(seq) AS first FROM audit WHERE seq > ? AND seq <= ? AND at >= ?");
  for (let from = Math.max(after, readPruned(db)?.to ?? 0); from < lastSeq(db); from += turnRows) {
    const first = statement.get(from, from + turnRows, since)?.first;
    if (typeof first === "number") return first;
    await setImmediate();
  }
  return lastSeq(db) + 1;
}

export function pageRows(db: DatabaseSync, { after, limit, since = 0 }: AuditPageQuery): AuditPage {
  // One read transaction, so that head and rows are of the same moment.
  db.exec("BEGIN");
  try {
    const rows = db
      .prepare(`SELECT ${columns} FROM audit WHERE seq > ? AND at >= ? ORDER BY seq LIMIT ?`)
      .all(after, since, limit);
    const pruned = readPruned(db);
    return {
      rows: rows as unknown as ChainedRow[],
      head: readHead(db),
      ...(pruned !== undefined && { pruned }),
    };
  } finally {
    db.exec("COMMIT");
  }
}

function lastSeq(db: DatabaseSync): number {
  return Number(db.prepare("SELECT max(seq) AS last FROM audit").get()?.last ?? 0);
}

/** Every star costs a walk over the text: so many, and the rest are letters. */
const starsMax = 4;

/** For SQLite, which has more signs than ours; two stars are as one. */
function patternOf(action: string | undefined): string | null {
  if (action === undefined) return null;
  let stars = 0;
  return action.replace(/\*+|[?[]/g, (sign) => {
    if (!sign.startsWith("*")) return `[${sign}]`;
    stars += 1;
    return stars <= starsMax ? "*" : "[*]";
  });
}

function isRecordOf({ action, detail }: AuditRow, pruned: Pruned): boolean {
  return action === prunedAction && detail === prunedDetail(pruned);
}

export function readPruned(db: DatabaseSync): Pruned | undefined {
  const row = db.prepare("SELECT value FROM host_settings WHERE name = 'audit_pruned'").get();
  return row === undefined ? undefined : (JSON.parse(String(row.value)) as Pruned);
}

export function readHead(db: DatabaseSync): ChainHead {
  const head = db.prepare("SELECT seq, hash FROM audit_head").get();
  return head === undefined ? { seq: 0, hash: noHash } : (head as unknown as ChainHead);
}

/** An array in fixed order is canonical by itself: nothing to sort, no key to forget. */
export function rowHash(previous: string, seq: number, row: AuditRow): string {
  const { at, action, reason, actor, subject, topic, detail, count } = row;
  const text = JSON.stringify([seq, at, action, reason, actor, subject, topic, detail, count]);
  return digest("sha256", `${previous}\n${text}`);
}
