import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openTreeState } from "../testing/open-tree-state.ts";
import { scratch } from "../testing/scratch.ts";
import { createSqliteBudgetStore } from "./store.ts";
import { budgetStoreCases, useFor } from "./store-cases.ts";

const openAt = (path?: string) => createSqliteBudgetStore(openTreeState(path));

describe("used budgets in SQLite", () => {
  budgetStoreCases(() => openAt());

  test("outlive the store", async () => {
    const path = join(scratch(), "state.db");
    await openAt(path).write([useFor("a")], []);
    expect(await openAt(path).all()).toEqual([useFor("a")]);
  });
});
