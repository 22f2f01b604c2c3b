import { expect, test } from "vitest";
import { openTreeState } from "../testing/open-tree-state.ts";
import { aggregatorId } from "../tree/aggregator-id.ts";
import { rootSince, storedRoot } from "./root-since.ts";

test("[AX-3.1-1] in a new database every token knows the root's segment, also the one made before the first start", () => {
  const db = openTreeState();
  expect(storedRoot(db)).toBeUndefined();
  expect(rootSince(db, "infra", 5_500)).toBe(0);
  aggregatorId(db);
  expect(rootSince(db, "infra", 9_000)).toBe(0);
  expect(storedRoot(db)).toBe("infra");
});

test("[AX-3.1-1] in a database of an older version, and with another segment, it begins now, in whole seconds", () => {
  const db = openTreeState();
  aggregatorId(db);
  expect(rootSince(db, "infra", 5_500)).toBe(5_000);
  expect(rootSince(db, "infra", 9_000)).toBe(5_000);
  expect(rootSince(db, "plant", 9_900)).toBe(9_000);
  expect(rootSince(db, undefined, 11_000)).toBe(11_000);
  expect(storedRoot(db)).toBeUndefined();
  expect(rootSince(db, "plant", 12_000)).toBe(12_000);
});
