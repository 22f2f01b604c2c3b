// What every store of the chain of approvers has to do.
import { expect, test } from "vitest";
import type { ChainStore } from "./chain-store.ts";

/** Each call makes a place for a chain; what it gives back opens it, each time anew. */
export function chainStoreCases(place: () => () => ChainStore | Promise<ChainStore>): void {
  test("begins empty, and gives back what was appended, in its order and from anywhere", async () => {
    const open = place();
    const store = await open();
    expect([await store.length(), await store.texts(0), await store.text(0)]).toEqual([0, [], undefined]);
    for (const n of [0, 1, 2]) expect(await store.append(n, `{"n":${n},"ä":"\\u0000"}`)).toBe(true);
    const other = await open();
    expect(await other.length()).toBe(3);
    expect(await other.texts(1)).toEqual(['{"n":1,"ä":"\\u0000"}', '{"n":2,"ä":"\\u0000"}']);
    expect(await other.text(2)).toBe('{"n":2,"ä":"\\u0000"}');
    expect(await other.text(3)).toBeUndefined();
  });

  test("[B-KEY-2] only the next entry is taken, and of many that are appended at once, one", async () => {
    const open = place();
    const stores = await Promise.all([open(), open(), open()]);
    const [first] = stores as [ChainStore, ...ChainStore[]];
    expect(await first.append(1, "too early")).toBe(false);
    expect(await first.append(0, "first")).toBe(true);
    expect(await first.append(0, "again")).toBe(false);
    for (let n = 1; n < 5; n += 1) {
      const taken = await Promise.all(stores.map((store, i) => store.append(n, `by ${i}`)));
      expect(taken.filter(Boolean)).toHaveLength(1);
      expect(await first.text(n)).toBe(`by ${taken.indexOf(true)}`);
    }
    expect(await first.length()).toBe(5);
  });
}
