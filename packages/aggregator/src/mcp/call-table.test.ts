import { expect, test } from "vitest";
import { CallTable } from "./call-table.ts";

test("what is put in is found, until it is taken out", () => {
  const table = new CallTable<string>();
  const first = table.add("a");
  const second = table.add("b");
  expect([table.size, table.get(first), table.get(second)]).toEqual([2, "a", "b"]);
  expect([table.delete(first), table.delete(first)]).toEqual([true, false]);
  expect([table.size, table.get(first), table.values()]).toEqual([1, undefined, ["b"]]);
});

test("a number and its text are two keys, and what is no key finds nothing", () => {
  const table = new CallTable<string>();
  table.set("1", "text");
  expect([1, "1", "__proto__", "constructor", null, undefined, {}].map((key) => table.get(key))).toEqual([
    undefined,
    "text",
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  table.set(1, "number");
  table.set("__proto__", "a name like any other");
  expect([table.size, table.get("__proto__"), table.values()[0]]).toEqual([
    3,
    "a name like any other",
    "number",
  ]);
});

test("numbers come in their order, the oldest first", () => {
  const table = new CallTable<number>();
  for (const key of [3, 10, 200, 70_000]) table.set(key, key);
  table.delete(10);
  expect(table.values()).toEqual([3, 200, 70_000]);
});
