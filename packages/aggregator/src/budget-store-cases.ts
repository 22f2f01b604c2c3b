// What every store of used budgets has to do.
import { expect, test } from "vitest";
import type { BudgetStore, StoredUse } from "./budget-store.ts";

export const useFor = (subserverId: string, more: Partial<StoredUse> = {}): StoredUse => ({
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

export function budgetStoreCases(open: () => BudgetStore): void {
  const sorted = (store: BudgetStore) => store.all().sort((a, b) => (a.subserverId < b.subserverId ? -1 : 1));

  test("begins empty, and gives back what was written", () => {
    const store = open();
    expect(store.all()).toEqual([]);
    store.write([useFor("a"), useFor("b", { calls: [] })], []);
    expect(sorted(store)).toEqual([useFor("a"), useFor("b", { calls: [] })]);
  });

  test("the newest counts, and others stay as they are", () => {
    const store = open();
    store.write([useFor("a"), useFor("b")], []);
    store.write([useFor("a", { mutableCalls: 9 })], []);
    expect(sorted(store)).toEqual([useFor("a", { mutableCalls: 9 }), useFor("b")]);
  });

  test("what is forgotten is gone", () => {
    const store = open();
    store.write([useFor("a"), useFor("b")], []);
    store.write([], ["a", "nobody"]);
    expect(store.all()).toEqual([useFor("b")]);
  });
}
