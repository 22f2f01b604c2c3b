import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openTreeState } from "../testing/open-tree-state.ts";
import { scratch } from "../testing/scratch.ts";
import { type BudgetStore, createSqliteBudgetStore, type StoredUse } from "./store.ts";

const openAt = (path?: string) => createSqliteBudgetStore(openTreeState(path));

const useFor = (subserverId: string, more: Partial<StoredUse> = {}): StoredUse => ({
  subserverId,
  mutableCalls: 1,
  costUnits: 2.5,
  calls: [
    [1_900_000_000_000, 3],
    [1_900_000_001_000, 1],
  ],
  seenAt: 1_900_000_002_000,
  ...more,
});

describe("used budgets", () => {
  const sorted = (store: BudgetStore) => store.all().sort((a, b) => (a.subserverId < b.subserverId ? -1 : 1));

  test("begins empty, and gives back what was written", () => {
    const store = openAt();
    expect(store.all()).toEqual([]);
    store.write([useFor("a"), useFor("b", { calls: [] })], []);
    expect(sorted(store)).toEqual([useFor("a"), useFor("b", { calls: [] })]);
  });

  test("the newest counts, and others stay as they are", () => {
    const store = openAt();
    store.write([useFor("a"), useFor("b")], []);
    store.write([useFor("a", { mutableCalls: 9 })], []);
    expect(sorted(store)).toEqual([useFor("a", { mutableCalls: 9 }), useFor("b")]);
  });

  test("what is forgotten is gone", () => {
    const store = openAt();
    store.write([useFor("a"), useFor("b")], []);
    store.write([], ["a", "nobody"]);
    expect(store.all()).toEqual([useFor("b")]);
  });

  test("outlive the store", () => {
    const path = join(scratch(), "state.db");
    openAt(path).write([useFor("a")], []);
    expect(openAt(path).all()).toEqual([useFor("a")]);
  });

  test("a write that fails leaves nothing of itself", () => {
    const store = openAt();
    const bad = useFor("b", { mutableCalls: 0.5 });
    expect(() => store.write([useFor("a"), bad], [])).toThrow();
    expect(store.all()).toEqual([]);
  });
});
