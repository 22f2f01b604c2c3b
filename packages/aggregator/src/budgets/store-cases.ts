// What every store of used budgets has to do.
import { expect, test } from "vitest";
import type { BudgetStore, StoredUse } from "./store.ts";

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

const sorted = async (store: BudgetStore) =>
  (await store.all()).sort((a, b) => (a.subserverId < b.subserverId ? -1 : 1));

/** Each call opens an empty one. */
export function budgetStoreCases(open: () => BudgetStore | Promise<BudgetStore>): void {
  test("begins empty, and gives back what was written", async () => {
    const store = await open();
    expect(await store.all()).toEqual([]);
    await store.write([useFor("a"), useFor("b", { calls: [] })], []);
    expect(await sorted(store)).toEqual([useFor("a"), useFor("b", { calls: [] })]);
  });

  test("the newest counts, and others stay as they are", async () => {
    const store = await open();
    await store.write([useFor("a"), useFor("b")], []);
    await store.write([useFor("a", { mutableCalls: 9, costUnits: 0.1 })], []);
    expect(await sorted(store)).toEqual([useFor("a", { mutableCalls: 9, costUnits: 0.1 }), useFor("b")]);
  });

  test("what is forgotten is gone", async () => {
    const store = await open();
    await store.write([useFor("a"), useFor("b")], []);
    await store.write([useFor("c")], ["a", "nobody"]);
    expect(await sorted(store)).toEqual([useFor("b"), useFor("c")]);
  });

  test("holders are any text", async () => {
    const store = await open();
    const holders = ["", "ä\u0000b", "{a,b}", '"', "\\"];
    await store.write(
      holders.map((holder) => useFor(holder)),
      [],
    );
    expect(await sorted(store)).toEqual(holders.toSorted().map((holder) => useFor(holder)));
    await store.write([], holders);
    expect(await store.all()).toEqual([]);
  });

  test("a write that fails leaves nothing of itself", async () => {
    const store = await open();
    const bad = useFor("b", { mutableCalls: 0.5 });
    await expect(store.write([useFor("a"), bad], [])).rejects.toThrow();
    expect(await store.all()).toEqual([]);
  });
}
