// The audit chain on PostgreSQL. One statement moves the head from where it was to where the new records end, and has
// them only if it was there: the first writer holds its row, and the second reads it again.
import { askPostgres } from "../postgres/ask-postgres.ts";
import { bigintArray, byteaArray, textArray } from "../postgres/binary-array.ts";
import { PostgresFault } from "../postgres/fault.ts";
import type { StatementValue } from "../postgres/run-statement.ts";
import type { PostgresSession } from "../postgres/session.ts";
import { storageRefusal } from "../postgres/storage-refusal.ts";
import { type ChainedRow, type ChainHead, chainRows, type Pruned, prunedRecord } from "./chain.ts";
import { type AuditStore, piecesOf } from "./store.ts";

const columns = "seq, at, action, reason, actor, subject, topic, detail, count, hash";
/** Each needs another process that appends. */
const triesMax = 16;

type Row = [
  seq: number,
  at: number,
  action: string,
  reason: Buffer | null,
  actor: Buffer | null,
  subject: Buffer | null,
  topic: Buffer | null,
  detail: string | null,
  count: number,
  hash: string,
];

const readHead = { name: "audit-head", text: "SELECT seq, hash FROM audit_head" };

const moveHead = `
  head AS (
    UPDATE audit_head SET seq = $3::bigint, hash = $4 WHERE seq = $1::bigint AND hash = $2 RETURNING 1
  ), added AS (
    INSERT INTO audit (${columns})
    SELECT * FROM unnest(
      $5::bigint[], $6::bigint[], $7::text[], $8::bytea[], $9::bytea[], $10::bytea[], $11::bytea[], $12::text[],
      $13::bigint[], $14::text[]
    ) WHERE EXISTS (SELECT 1 FROM head)
  )`;

const append = {
  name: "audit-append",
  text: `WITH ${moveHead} SELECT current_setting('synchronous_commit') FROM head`,
};

const prune = {
  name: "audit-prune",
  text: `
    WITH ${moveHead}, gone AS (
      DELETE FROM audit WHERE seq <= $15::bigint AND EXISTS (SELECT 1 FROM head)
    ), noted AS (
      INSERT INTO host_settings (name, value) SELECT 'audit_pruned', $16 FROM head
      ON CONFLICT (name) DO UPDATE SET value = excluded.value
    )
    SELECT current_setting('synchronous_commit') FROM head`,
};

const page = {
  name: "audit-page",
  text: `
    SELECT h.seq, h.hash, p.value, a.* FROM (VALUES (1)) AS one (n)
    LEFT JOIN audit_head AS h ON true
    LEFT JOIN host_settings AS p ON p.name = 'audit_pruned'
    LEFT JOIN LATERAL (
      SELECT ${columns} FROM audit WHERE seq > $1::bigint AND at >= $3::bigint ORDER BY seq LIMIT $2::bigint
    ) AS a ON true ORDER BY a.seq`,
};

/** Empty arrays stand for what is not asked for. */
const search = {
  name: "audit-search",
  text: `
    SELECT ${columns} FROM audit
    WHERE seq < $1::bigint AND seq >= $2::bigint AND at >= $3::bigint
      AND (cardinality($4::text[]) = 0 OR action LIKE ($4::text[])[1])
      AND (cardinality($5::bytea[]) = 0 OR actor = ($5::bytea[])[1])
    ORDER BY seq DESC LIMIT $6::bigint`,
};

const firstAt = {
  name: "audit-first",
  text: "SELECT min(seq) FROM audit WHERE seq > $2::bigint AND seq <= $3::bigint AND at >= $1::bigint",
};

const bounds = { name: "audit-bounds", text: "SELECT min(seq), max(seq) FROM audit" };

const toPrune = {
  name: "audit-to-prune",
  text: `
    SELECT hash FROM audit WHERE seq = $1::bigint AND $1::bigint > coalesce(
      (SELECT (value::json ->> 'to')::bigint FROM host_settings WHERE name = 'audit_pruned'), 0)`,
};

/** The store has the tables of `hostOnPostgres`; the session is closed by the code that opened it. */
export function createPostgresAuditStore(session: PostgresSession): AuditStore {
  async function head(): Promise<ChainHead> {
    const [row] = await askPostgres<[seq: number, hash: string]>(session, readHead);
    if (row === undefined) throw new Error("the head of the audit chain is missing in PostgreSQL");
    return { seq: row[0], hash: row[1] };
  }

  /** Sends `statement` with the records as they go on from the head, until it finds the head where it was read. */
  async function moving(
    statement: typeof append,
    rows: Parameters<AuditStore["append"]>[0],
    more: readonly StatementValue[] = [],
  ): Promise<void> {
    for (let tries = 0; tries < triesMax; tries += 1) {
      const before = await head();
      const chained = chainRows(before, rows);
      const after = chained.at(-1) ?? before;
      const values = [before.seq, before.hash, after.seq, after.hash, ...arraysOf(chained), ...more];
      const [row] = await askPostgres<[synchronousCommit: string]>(session, statement, values);
      // Fit when we connected, but an operator may change it while we run.
      if (row?.[0] === "off")
        throw storageRefusal(new PostgresFault("doubtful", "synchronous_commit is off"));
      if (row !== undefined) return;
    }
    throw storageRefusal(new PostgresFault("busy", "other processes append to the audit chain"));
  }

  return {
    append: (rows) => moving(append, rows),
    async page({ after, limit, since = 0 }) {
      type PageRow = [seq: number | null, hash: string, pruned: string | null, ...Row];
      const found = await askPostgres<PageRow>(session, page, [after, limit, since]);
      const [seq = null, hash = "", pruned = null] = found[0] ?? [];
      const rows = found.map(([, , , ...row]) => row).filter(([number]) => number !== null);
      return {
        rows: rows.map(chainedRow),
        head: { seq: seq ?? 0, hash },
        ...(pruned !== null && { pruned: JSON.parse(pruned) as Pruned }),
      };
    },
    async search({ from, before, limit, since = 0, action, actor }) {
      const patterns = action === undefined ? [] : [likeOf(action)];
      const actors = actor === undefined ? [] : [Buffer.from(actor)];
      const values = [before, from, since, textArray(patterns), byteaArray(actors), limit];
      return (await askPostgres<Row>(session, search, values)).map(chainedRow);
    },
    async firstAt(since, after, upTo) {
      const [row] = await askPostgres<[number | null]>(session, firstAt, [since, after, upTo]);
      return row?.[0] ?? undefined;
    },
    async bounds() {
      const [row] = await askPostgres<[number | null, number | null]>(session, bounds);
      return { first: row?.[0] ?? 0, last: row?.[1] ?? 0 };
    },
    async prune(to, at) {
      const [row] = await askPostgres<[hash: string]>(session, toPrune, [to]);
      if (row === undefined) return undefined;
      const pruned: Pruned = { to, hash: row[0], at };
      await moving(prune, [prunedRecord(pruned)], [to, JSON.stringify(pruned)]);
      return pruned;
    },
  };
}

/** What strangers choose as bytes: PostgreSQL's text cannot hold every character. */
function arraysOf(rows: readonly ChainedRow[]): Buffer[] {
  const bytes = (name: "reason" | "actor" | "subject" | "topic") =>
    byteaArray(rows.map((row) => (row[name] === null ? null : Buffer.from(row[name]))));
  return [
    bigintArray(rows.map(({ seq }) => seq)),
    bigintArray(rows.map(({ at }) => at)),
    textArray(rows.map(({ action }) => action)),
    bytes("reason"),
    bytes("actor"),
    bytes("subject"),
    bytes("topic"),
    textArray(rows.map(({ detail }) => detail)),
    bigintArray(rows.map(({ count }) => count)),
    textArray(rows.map(({ hash }) => hash)),
  ];
}

function chainedRow([seq, at, action, reason, actor, subject, topic, detail, count, hash]: Row): ChainedRow {
  const text = (bytes: Buffer | null) => bytes?.toString() ?? null;
  return {
    seq,
    at,
    action,
    ...{ reason: text(reason), actor: text(actor), subject: text(subject), topic: text(topic) },
    detail,
    count,
    hash,
  };
}

function likeOf(action: string): string {
  return piecesOf(action)
    .map((piece) => piece.replace(/[\\%_]/g, "\\$&"))
    .join("%");
}
