import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "@mcpx/host";
import { describe, expect, onTestFinished, test } from "vitest";
import { budgetStoreCases, useFor } from "./budget-store-cases.ts";
import { createMemoryBudgetStore } from "./budget-store-memory.ts";
import { createSqliteBudgetStore } from "./budget-store-sqlite.ts";
import { aggregatorMigrations } from "./migrations.ts";

const openAt = (path: string) => {
  const db = openDatabase(path, { component: "aggregator", migrations: aggregatorMigrations });
  onTestFinished(() => db.close());
  return createSqliteBudgetStore(db);
};

describe("used budgets in memory", () => budgetStoreCases(createMemoryBudgetStore));

describe("used budgets in SQLite", () => {
  budgetStoreCases(() => openAt(":memory:"));

  test("outlive the store", () => {
    const dir = mkdtempSync(join(tmpdir(), "mcpx-budgets-"));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    const path = join(dir, "state.db");
    openAt(path).write([useFor("a")], []);
    expect(openAt(path).all()).toEqual([useFor("a")]);
  });

  test("a write that fails leaves nothing of itself", () => {
    const store = openAt(":memory:");
    const bad = useFor("b", { mutableCalls: 0.5 });
    expect(() => store.write([useFor("a"), bad], [])).toThrow();
    expect(store.all()).toEqual([]);
  });
});
