import { expect, test } from "vitest";
import { filterOf, isSameFilter, queryOf } from "./room-query.ts";

test("what is usual is not said, and what is said is read the same", () => {
  const usual = filterOf({});
  expect(queryOf(usual)).toEqual({ search: "", thread: "", show: "" });
  const filter = { families: new Set(["chat", "protocol"] as const), search: "oven", thread: "e1" };
  const query = queryOf(filter);
  expect(query).toEqual({ show: "chat protocol", search: "oven", thread: "e1" });
  expect(isSameFilter(filterOf(query), filter)).toBe(true);
  expect(isSameFilter(usual, filter)).toBe(false);
});

test("nothing at all is shown where somebody wants that, and unknown kinds are left out", () => {
  expect(filterOf(queryOf({ families: new Set() })).families.size).toBe(0);
  expect([...filterOf({ show: "chat x __proto__" }).families]).toEqual(["chat"]);
});
