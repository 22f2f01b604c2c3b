// The audit chain in the database: each record's hash covers the hash before it, and the head is kept apart.
// It shows tampering by whoever did not rewrite everything after it; keeping `head` elsewhere shows that too.
import { hash as digest } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";

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

/** Walks the whole chain: a job for the CLI, not for a request. */
export function verifyChain(db: DatabaseSync): ChainVerdict {
  // One read transaction, so that head and rows are of the same moment.
  db.exec("BEGIN");
  try {
    const head = readHead(db);
    const pruned = readPruned(db);
    // What was pruned is believed where the chain itself says so.
    let isSaid = pruned === undefined;
    let { to: seq, hash } = pruned ?? { to: 0, hash: noHash };
    for (const row of db.prepare(`SELECT ${columns} FROM audit ORDER BY seq`).iterate()) {
      const record = row as unknown as ChainedRow;
      seq += 1;
      hash = rowHash(hash, seq, record);
      if (record.seq !== seq || record.hash !== hash) return { ok: false, at: seq };
      isSaid ||= pruned !== undefined && isRecordOf(record, pruned);
    }
    if (!isSaid) return { ok: false, at: (pruned?.to ?? 0) + 1 };
    if (head.seq !== seq) return { ok: false, at: Math.min(head.seq, seq) + 1 };
    if (head.hash !== hash) return { ok: false, at: seq };
    const records = seq - (pruned?.to ?? 0);
    return { ok: true, records, head: hash, ...(pruned !== undefined && { pruned }) };
  } finally {
    db.exec("COMMIT");
  }
}

export function listRows(db: DatabaseSync, query: AuditQuery): ChainedRow[] {
  const rows = db
    .prepare(
      `SELECT ${columns} FROM audit
       WHERE seq < ? AND at >= ? AND (? IS NULL OR action GLOB ?) AND (? IS NULL OR actor = ?)
       ORDER BY seq DESC LIMIT ?`,
    )
    .all(
      query.before ?? Number.MAX_SAFE_INTEGER,
      query.since ?? 0,
      query.action ?? null,
      patternOf(query.action),
      query.actor ?? null,
      query.actor ?? null,
      query.limit,
    );
  return rows as unknown as ChainedRow[];
}

export function pageRows(db: DatabaseSync, { after, limit, since = 0 }: AuditPageQuery): AuditPage {
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
