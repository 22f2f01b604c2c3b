// Positions on PostgreSQL.
import { askPostgres } from "../../postgres/ask-postgres.ts";
import type { PostgresSession } from "../../postgres/session.ts";
import { type AuditPosition, type AuditPositions, settingOf } from "./positions.ts";

const find = { name: "audit-position", text: "SELECT value FROM host_settings WHERE name = $1::text" };

const keep = {
  name: "audit-position-keep",
  text: `
    INSERT INTO host_settings (name, value) VALUES ($1::text, $2::text)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
};

/** The store has the tables of `hostOnPostgres`; the session is closed by whoever opened it. */
export function createPostgresAuditPositions(session: PostgresSession): AuditPositions {
  return {
    async read(place) {
      const [row] = await askPostgres<[value: string]>(session, find, [settingOf(place)]);
      return row === undefined ? undefined : (JSON.parse(row[0]) as AuditPosition);
    },
    async write(place, { seq, hash }) {
      await askPostgres(session, keep, [settingOf(place), JSON.stringify({ seq, hash })]);
    },
  };
}
