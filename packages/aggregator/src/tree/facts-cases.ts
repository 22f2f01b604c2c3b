// What every store of the facts of a tree has to do.
import { isUuid } from "@mcpx/protocol";
import { expect, test } from "vitest";
import type { KeptFacts } from "./facts.ts";

/** Each call makes a place for facts; what it gives back opens it, each time anew. */
export function treeFactsCases(place: () => () => KeptFacts | Promise<KeptFacts>): void {
  test("[AX-5.3-3] the aggregator's id is made once and stays, for all who ask at once", async () => {
    const open = place();
    const all = await Promise.all([open(), open(), open()]);
    const ids = await Promise.all(all.map((facts) => facts.aggregatorId()));
    expect(ids.every((id) => isUuid(id) && id === ids[0])).toBe(true);
    expect(await (await open()).aggregatorId()).toBe(ids[0]);
    expect(await (await place()()).aggregatorId()).not.toBe(ids[0]);
  });

  test("[AX-3.1-1] in a new store every token knows the root's segment, also the one made before the first start", async () => {
    const facts = await place()();
    expect(await facts.storedRoot()).toBeUndefined();
    expect(await facts.rootSince("infra", 5_500)).toBe(0);
    await facts.aggregatorId();
    expect(await facts.rootSince("infra", 9_000)).toBe(0);
    expect(await facts.storedRoot()).toBe("infra");
  });

  test("[AX-3.1-1] in a store of an older version, and with another segment, it begins now, in whole seconds", async () => {
    const facts = await place()();
    await facts.aggregatorId();
    expect(await facts.rootSince("infra", 5_500)).toBe(5_000);
    expect(await facts.rootSince("infra", 9_000)).toBe(5_000);
    expect(await facts.rootSince("plant", 9_900)).toBe(9_000);
    expect(await facts.rootSince(undefined, 11_000)).toBe(11_000);
    expect(await facts.storedRoot()).toBeUndefined();
    expect(await facts.rootSince("plant", 12_000)).toBe(12_000);
  });

  test("panic outlives whoever began it, and ends when it is ended", async () => {
    const open = place();
    const facts = await open();
    expect(await facts.isPanic()).toBe(false);
    await facts.keepPanic(true);
    expect(await (await open()).isPanic()).toBe(true);
    await facts.keepPanic(false);
    expect(await (await open()).isPanic()).toBe(false);
  });
}
