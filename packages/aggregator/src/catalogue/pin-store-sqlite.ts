// Pins in `state.db`.
import type { DatabaseSync } from "node:sqlite";
import { immediately } from "@mcpx/host";
import { type ChangedTool, changedMax, type PinStore } from "./pin-store.ts";

/** The database has the tables of `aggregatorMigrations`, and is closed by the code that opened it. */
export function createSqlitePinStore(db: DatabaseSync): PinStore {
  const pins = db.prepare("SELECT tool, hash, changed_hash, chars FROM tool_pins WHERE server = ?");
  const pin = db.prepare(
    `INSERT INTO tool_pins (server, tool, hash, text, pinned_at, chars, payer) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
  );
  const sum = db.prepare(
    `SELECT coalesce(sum(chars), 0) AS everybody, coalesce(sum(chars) FILTER (WHERE payer = ?), 0) AS own
     FROM tool_pins WHERE payer IS NOT NULL`,
  );
  const change = db.prepare(
    `UPDATE tool_pins SET changed_hash = ?, changed_text = ?, changed_at = ?, canonical = ?,
       chars = length(text) + ? WHERE server = ? AND tool = ?`,
  );
  const settle = db.prepare(
    `UPDATE tool_pins SET changed_hash = NULL, changed_text = NULL, changed_at = NULL, canonical = NULL,
       chars = length(text) WHERE server = ? AND tool = ?`,
  );
  const renew = db.prepare(
    `UPDATE tool_pins SET hash = ?, text = ?, chars = ?, changed_hash = NULL, changed_text = NULL,
       changed_at = NULL, canonical = NULL WHERE server = ? AND tool = ?`,
  );
  const changed = db.prepare(
    `SELECT server, tool, canonical, changed_hash, changed_at FROM tool_pins
     WHERE changed_hash IS NOT NULL ORDER BY canonical, server LIMIT ?`,
  );
  const one = db.prepare(
    `SELECT server, tool, canonical, changed_hash, changed_at, text, changed_text FROM tool_pins
     WHERE server = ? AND tool = ? AND changed_hash IS NOT NULL`,
  );
  const accept = db.prepare(
    `UPDATE tool_pins SET hash = changed_hash, text = changed_text, chars = length(changed_text),
       changed_hash = NULL, changed_text = NULL, changed_at = NULL, canonical = NULL
     WHERE server = ? AND tool = ? AND changed_hash = ?`,
  );
  const forget = db.prepare("DELETE FROM tool_pins WHERE server = ?");
  return {
    pinsOf: async (server) =>
      new Map(
        pins.all(server).map((row) => {
          const changedHash = row.changed_hash === null ? undefined : String(row.changed_hash);
          return [String(row.tool), { hash: String(row.hash), changedHash, chars: Number(row.chars) }];
        }),
      ),
    async charsOf(payer) {
      const row = sum.get(payer);
      return { ofPayer: Number(row?.own), ofAll: Number(row?.everybody) };
    },
    async write(server, { first, changed: others, returned, renewed }, at, payer) {
      immediately(db, () => {
        for (const { tool, hash, text } of first) {
          pin.run(server, tool, hash, text, at, text.length, payer ?? null);
        }
        for (const { tool, hash, text, canonical } of others) {
          change.run(hash, text, at, canonical, text.length, server, tool);
        }
        for (const tool of returned) settle.run(server, tool);
        for (const { tool, hash, text } of renewed) renew.run(hash, text, text.length, server, tool);
      });
    },
    changed: async () => changed.all(changedMax).map(changedTool),
    async change(server, tool) {
      const row = one.get(server, tool);
      return row && { ...changedTool(row), was: String(row.text), now: String(row.changed_text) };
    },
    accept: async (server, tool, hash) => accept.run(server, tool, hash).changes > 0,
    forget: async (server) => Number(forget.run(server).changes),
  };
}

function changedTool(row: Record<string, unknown>): ChangedTool {
  return {
    server: String(row.server),
    tool: String(row.tool),
    canonical: String(row.canonical),
    hash: String(row.changed_hash),
    since: Number(row.changed_at),
  };
}
