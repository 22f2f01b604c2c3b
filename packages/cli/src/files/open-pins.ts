// The pins of a data directory: what the tools of its servers were when they were first seen.
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { aggregatorMigrations, createSqlitePinStore, type PinStore } from "@mcpx/aggregator";
import { openDatabase } from "@mcpx/host";

export interface OpenPins {
  pins: PinStore;
  db: DatabaseSync;
  close(): void;
}

export function openPins(dataDir: string): OpenPins {
  const db = openDatabase(join(dataDir, "state.db"), {
    component: "aggregator",
    migrations: aggregatorMigrations,
  });
  return { pins: createSqlitePinStore(db), db, close: () => db.close() };
}
