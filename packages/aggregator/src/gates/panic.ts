// Panic survives a restart and ends only when an operator ends it. Meanwhile every call goes to a gate.
import type { DatabaseSync } from "node:sqlite";

export function readPanic(db: DatabaseSync): boolean {
  return db.prepare("SELECT value FROM tree_facts WHERE name = 'panic'").get()?.value === 1;
}

/** On disk before it returns. */
export function keepPanic(db: DatabaseSync, isPanic: boolean): void {
  db.prepare("INSERT INTO tree_facts VALUES ('panic', ?) ON CONFLICT (name) DO UPDATE SET value = ?").run(
    isPanic ? 1 : 0,
    isPanic ? 1 : 0,
  );
}
