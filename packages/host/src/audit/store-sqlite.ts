// The audit chain in `state.db`.
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { immediately } from "../sqlite/transaction.ts";
import {
  type AuditRow,
  type ChainedRow,
  type ChainHead,
  chainRows,
  noHash,
  type Pruned,
  prunedRecord,
} from "./chain.ts";
import { type AuditStore, piecesOf } from "./store.ts";

const columns = "seq, at, action, reason, actor, subject, topic, detail, count, hash";

/** The database has the host's tables, and is closed by the code that opened it. */
export function createSqliteAuditStore(db: DatabaseSync): AuditStore {
  const all = (sql: string, ...values: SQLInputValue[]) =>
    db.prepare(sql).all(...values) as unknown as ChainedRow[];
  return {
    append: async (rows) => immediately(db, () => appendRows(db, rows)),
    async page({ after, limit, since = 0 }) {
      // One read transaction, so that head and rows are of the same moment.
      db.exec("BEGIN");
      try {
        const sql = `SELECT ${columns} FROM audit WHERE seq > ? AND at >= ? ORDER BY seq LIMIT ?`;
        const rows = all(sql, after, since, limit);
        const pruned = readPruned(db);
        return { rows, head: readHead(db), ...(pruned !== undefined && { pruned }) };
      } finally {
        db.exec("COMMIT");
      }
    },
    async search({ from, before, limit, since = 0, action, actor }) {
      const sql = `SELECT ${columns} FROM audit
        WHERE seq < ? AND seq >= ? AND at >= ? AND (? IS NULL OR action GLOB ?) AND (? IS NULL OR actor = ?)
        ORDER BY seq DESC LIMIT ?`;
      const [pattern, who] = [action === undefined ? null : globOf(action), actor ?? null];
      return all(sql, before, from, since, pattern, pattern, who, who, limit);
    },
    async firstAt(since, after, upTo) {
      const sql = "SELECT min(seq) AS first FROM audit WHERE seq > ? AND seq <= ? AND at >= ?";
      const first = db.prepare(sql).get(after, upTo, since)?.first;
      return typeof first === "number" ? first : undefined;
    },
    async bounds() {
      const bound = (which: "min" | "max") =>
        Number(db.prepare(`SELECT ${which}(seq) AS seq FROM audit`).get()?.seq ?? 0);
      return { first: bound("min"), last: bound("max") };
    },
    prune: async (to, at) => immediately(db, () => prune(db, to, at)),
  };
}

/** The caller holds the write transaction: another process may append too. */
function appendRows(db: DatabaseSync, rows: readonly AuditRow[]): void {
  const insert = db.prepare(`INSERT INTO audit (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const head = readHead(db);
  const chained = chainRows(head, rows);
  for (const { seq, at, action, reason, actor, subject, topic, detail, count, hash } of chained) {
    insert.run(seq, at, action, reason, actor, subject, topic, detail, count, hash);
  }
  const { seq, hash } = chained.at(-1) ?? head;
  db.prepare("INSERT OR REPLACE INTO audit_head (only, seq, hash) VALUES (1, ?, ?)").run(seq, hash);
}

function prune(db: DatabaseSync, to: number, at: number): Pruned | undefined {
  const hash = db.prepare("SELECT hash FROM audit WHERE seq = ?").get(to)?.hash;
  if (typeof hash !== "string" || (readPruned(db)?.to ?? 0) >= to) return undefined;
  const pruned: Pruned = { to, hash, at };
  db.prepare("DELETE FROM audit WHERE seq <= ?").run(to);
  db.prepare("INSERT OR REPLACE INTO host_settings (name, value) VALUES ('audit_pruned', ?)").run(
    JSON.stringify(pruned),
  );
  appendRows(db, [prunedRecord(pruned)]);
  return pruned;
}

function readPruned(db: DatabaseSync): Pruned | undefined {
  const row = db.prepare("SELECT value FROM host_settings WHERE name = 'audit_pruned'").get();
  return row === undefined ? undefined : (JSON.parse(String(row.value)) as Pruned);
}

function readHead(db: DatabaseSync): ChainHead {
  const head = db.prepare("SELECT seq, hash FROM audit_head").get();
  return head === undefined ? { seq: 0, hash: noHash } : (head as unknown as ChainHead);
}

/** SQLite has more signs than ours. */
function globOf(action: string): string {
  return piecesOf(action)
    .map((piece) => piece.replace(/[?[*]/g, "[$&]"))
    .join("*");
}
