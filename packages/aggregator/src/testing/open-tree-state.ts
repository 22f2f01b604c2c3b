// A `state.db` with the tree's tables, for one test: in memory, or on a file that can be opened again.
import type { DatabaseSync } from "node:sqlite";
import { type DatabaseOptions, openDatabase } from "@mcpx/host";
import { onTestFinished } from "vitest";
import { aggregatorMigrations } from "../tree/migrations.ts";

export function openTreeState(path = ":memory:", options: Partial<DatabaseOptions> = {}): DatabaseSync {
  const db = openDatabase(path, { component: "aggregator", migrations: aggregatorMigrations, ...options });
  onTestFinished(() => {
    if (db.isOpen) db.close();
  });
  return db;
}
