// Positions in `state.db`.
import type { DatabaseSync } from "node:sqlite";
import { type AuditPosition, type AuditPositions, settingOf } from "./positions.ts";

/** The database has the host's tables, and is closed by whoever opened it. */
export function createSqliteAuditPositions(db: DatabaseSync): AuditPositions {
  return {
    async read(place) {
      const row = db.prepare("SELECT value FROM host_settings WHERE name = ?").get(settingOf(place));
      return row === undefined ? undefined : (JSON.parse(String(row.value)) as AuditPosition);
    },
    async write(place, { seq, hash }) {
      const sql = "INSERT OR REPLACE INTO host_settings (name, value) VALUES (?, ?)";
      db.prepare(sql).run(settingOf(place), JSON.stringify({ seq, hash }));
    },
  };
}
