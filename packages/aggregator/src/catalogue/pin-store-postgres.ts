// Pins on PostgreSQL. One statement writes all of a list's news, or nothing of it.
import { askPostgres, bigintArray, byteaArray, type PostgresSession, textArray } from "@mcpx/host";
import { type ChangedTool, changedMax, type Pin, type PinStore, type SeenTool } from "./pin-store.ts";

/** Names are of any characters, and so bytes; texts are JSON. Lengths are as JavaScript counts them. */
export const pinsOnPostgres = `
  CREATE TABLE tool_pins (
    server bytea NOT NULL,
    tool bytea NOT NULL,
    hash text NOT NULL,
    text text NOT NULL,
    length bigint NOT NULL,
    pinned_at bigint NOT NULL,
    payer bytea,
    changed_hash text,
    changed_text text,
    changed_length bigint,
    changed_at bigint,
    canonical bytea,
    PRIMARY KEY (server, tool)
  );
  CREATE INDEX tool_pins_changed ON tool_pins (server) WHERE changed_hash IS NOT NULL;
  CREATE INDEX tool_pins_payer ON tool_pins (sha256(payer)) INCLUDE (length, changed_length) WHERE payer IS NOT NULL;
`;

const chars = "(length + coalesce(changed_length, 0))";
const unchanged =
  "changed_hash = NULL, changed_text = NULL, changed_length = NULL, changed_at = NULL, canonical = NULL";

const pinsOf = {
  name: "pins-of",
  text: `SELECT tool, hash, changed_hash, ${chars} FROM tool_pins WHERE server = $1`,
};

const sums = {
  name: "pins-chars",
  text: `SELECT coalesce(sum(${chars}), 0)::bigint,
           coalesce(sum(${chars}) FILTER (WHERE sha256(payer) = sha256($1::bytea)), 0)::bigint
         FROM tool_pins WHERE payer IS NOT NULL`,
};

/** A tool may be first seen and changed at once: where its row is new, it comes with the change. */
const write = {
  name: "pins-write",
  text: `
    WITH other AS (
      SELECT * FROM unnest($8::bytea[], $9::text[], $10::text[], $11::bigint[], $12::bytea[])
        AS other (tool, hash, text, length, canonical)
    ), whole AS (
      SELECT * FROM unnest($13::bytea[], $14::text[], $15::text[], $16::bigint[]) AS whole (tool, hash, text, length)
    ), first AS (
      INSERT INTO tool_pins (server, tool, hash, text, length, pinned_at, payer, changed_hash, changed_text,
        changed_length, changed_at, canonical)
      SELECT $1::bytea, seen.tool, seen.hash, seen.text, seen.length, $2::bigint, $3::bytea, other.hash, other.text,
        other.length, CASE WHEN other.hash IS NOT NULL THEN $2::bigint END, other.canonical
      FROM unnest($4::bytea[], $5::text[], $6::text[], $7::bigint[]) AS seen (tool, hash, text, length)
      LEFT JOIN other USING (tool) ON CONFLICT DO NOTHING
    ), changed AS (
      UPDATE tool_pins SET changed_hash = other.hash, changed_text = other.text, changed_length = other.length,
        changed_at = $2::bigint, canonical = other.canonical
      FROM other WHERE server = $1 AND tool_pins.tool = other.tool
    ), renewed AS (
      UPDATE tool_pins SET hash = whole.hash, text = whole.text, length = whole.length, ${unchanged}
      FROM whole WHERE server = $1 AND tool_pins.tool = whole.tool
    )
    UPDATE tool_pins SET ${unchanged} WHERE server = $1 AND tool = ANY ($17::bytea[])
      AND tool NOT IN (SELECT tool FROM whole)`,
};

const changed = {
  name: "pins-changed",
  text: `SELECT server, tool, canonical, changed_hash, changed_at FROM tool_pins WHERE changed_hash IS NOT NULL
         ORDER BY canonical, server LIMIT ${changedMax}`,
};

const change = {
  name: "pins-change",
  text: `SELECT server, tool, canonical, changed_hash, changed_at, text, changed_text FROM tool_pins
         WHERE server = $1 AND tool = $2 AND changed_hash IS NOT NULL`,
};

const accept = {
  name: "pins-accept",
  text: `UPDATE tool_pins SET hash = changed_hash, text = changed_text, length = changed_length, ${unchanged}
         WHERE server = $1 AND tool = $2 AND changed_hash = $3 RETURNING 1`,
};

const forget = { name: "pins-forget", text: "DELETE FROM tool_pins WHERE server = $1 RETURNING 1" };

type ChangedRow = [server: Buffer, tool: Buffer, canonical: Buffer, hash: string, at: number];

/** The store has the tables of `treeOnPostgres`; the session is closed by the code that opened it. */
export function createPostgresPinStore(session: PostgresSession): PinStore {
  return {
    async pinsOf(server) {
      type Row = [tool: Buffer, hash: string, changedHash: string | null, chars: number];
      const rows = await askPostgres<Row>(session, pinsOf, [bytes(server)]);
      return new Map(
        rows.map(([tool, hash, changedHash, chars]): [string, Pin] => [
          tool.toString(),
          { hash, changedHash: changedHash ?? undefined, chars },
        ]),
      );
    },
    async charsOf(payer) {
      const [row] = await askPostgres<[ofAll: number, ofPayer: number]>(session, sums, [bytes(payer)]);
      return { ofPayer: row?.[1] ?? 0, ofAll: row?.[0] ?? 0 };
    },
    async write(server, { first, changed: others, returned, renewed }, at, payer) {
      await askPostgres(session, write, [
        ...[bytes(server), at, payer === undefined ? null : bytes(payer)],
        ...columnsOf(first),
        ...[...columnsOf(others), byteaArray(others.map(({ canonical }) => bytes(canonical)))],
        ...columnsOf(renewed),
        byteaArray(returned.map(bytes)),
      ]);
    },
    changed: async () => (await askPostgres<ChangedRow>(session, changed)).map(changedTool),
    async change(server, tool) {
      type Row = [...ChangedRow, was: string, now: string];
      const [row] = await askPostgres<Row>(session, change, [bytes(server), bytes(tool)]);
      return row && { ...changedTool(row.slice(0, 5) as ChangedRow), was: row[5], now: row[6] };
    },
    accept: async (server, tool, hash) =>
      (await askPostgres(session, accept, [bytes(server), bytes(tool), hash])).length > 0,
    forget: async (server) => (await askPostgres(session, forget, [bytes(server)])).length,
  };
}

function columnsOf(tools: readonly SeenTool[]): Buffer[] {
  return [
    byteaArray(tools.map(({ tool }) => bytes(tool))),
    textArray(tools.map(({ hash }) => hash)),
    textArray(tools.map(({ text }) => text)),
    bigintArray(tools.map(({ text }) => text.length)),
  ];
}

function changedTool([server, tool, canonical, hash, since]: ChangedRow): ChangedTool {
  return {
    ...{ server: server.toString(), tool: tool.toString(), canonical: canonical.toString() },
    ...{ hash, since },
  };
}

function bytes(text: string): Buffer {
  return Buffer.from(text);
}
