// How far a migration has come, kept in the store it fills: it goes on from there after whatever has ended it.
import type { PostgresComponent, PostgresSession } from "@mcpx/host";
import { askStore } from "./ask-store.ts";

export const migrationOnPostgres: PostgresComponent = {
  component: "migration",
  migrations: [
    { version: 1, up: "CREATE TABLE migration_progress (name text PRIMARY KEY, value text NOT NULL)" },
  ],
};

export interface Progress {
  find(name: string): Promise<string | undefined>;
  note(name: string, value: string): Promise<void>;
}

export function progressIn(session: PostgresSession): Progress {
  const find = { name: "migration-find", text: "SELECT value FROM migration_progress WHERE name = $1" };
  const note = {
    name: "migration-note",
    text: `INSERT INTO migration_progress VALUES ($1, $2)
           ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  };
  return {
    find: async (name) => (await askStore<[string]>(session, find, [name]))[0]?.[0],
    note: async (name, value) => void (await askStore(session, note, [name, value])),
  };
}
