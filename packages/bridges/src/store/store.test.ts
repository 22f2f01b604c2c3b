import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { newId } from "./new-id.ts";
import { bridgeStoreCases } from "./store-cases.ts";
import { createMemoryStore } from "./store-memory.ts";
import { bridgeMigrations, createSqliteStore } from "./store-sqlite.ts";

describe("in memory", () => bridgeStoreCases(createMemoryStore));

describe("in SQLite", () =>
  bridgeStoreCases(() => {
    const db = new DatabaseSync(":memory:");
    for (const { up } of bridgeMigrations) db.exec(up);
    return createSqliteStore(db);
  }));

test("ids have the length that is asked for, and letters nobody confuses", () => {
  const ids = Array.from({ length: 200 }, () => newId(10));
  expect(new Set(ids).size).toBe(200);
  for (const id of ids) expect(id).toMatch(/^[0-9a-hjkmnp-tv-z]{10}$/);
});
