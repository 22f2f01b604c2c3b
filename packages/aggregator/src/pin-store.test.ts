import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "@mcpx/host";
import { describe, expect, onTestFinished, test } from "vitest";
import { aggregatorMigrations } from "./migrations.ts";
import { news, pinStoreCases, seen } from "./pin-store-cases.ts";
import { createMemoryPinStore } from "./pin-store-memory.ts";
import { createSqlitePinStore } from "./pin-store-sqlite.ts";

const openAt = (path: string) => {
  const db = openDatabase(path, { component: "aggregator", migrations: aggregatorMigrations });
  onTestFinished(() => db.close());
  return createSqlitePinStore(db);
};

describe("pins in memory", () => pinStoreCases(createMemoryPinStore));

describe("pins in SQLite", () => {
  pinStoreCases(() => openAt(":memory:"));

  test("outlive the store", () => {
    const dir = mkdtempSync(join(tmpdir(), "mcpx-pins-"));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    const path = join(dir, "state.db");
    openAt(path).write("s", news({ first: [seen("a", "1")] }), 10);
    expect(openAt(path).pinsOf("s").get("a")?.hash).toBe("hash of 1");
  });

  test("a write that fails leaves nothing of itself", () => {
    const store = openAt(":memory:");
    const bad = { ...seen("b"), text: undefined as unknown as string };
    expect(() => store.write("s", news({ first: [seen("a"), bad] }), 10)).toThrow();
    expect(store.pinsOf("s").size).toBe(0);
  });
});
