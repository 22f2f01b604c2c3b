import { expect, test } from "vitest";
import { edited, type Mutation, placeOf, tableFaults } from "./table.ts";

const rows = [
  { id: "X0-1-1", level: "M", text: "must", part: "gateway" },
  { id: "X0-1-2", level: "S", text: "should", part: "gateway" },
  { id: "X0-1-3", level: "M", text: "must, later", part: "cluster" },
  { id: "B-SIGN-1", level: "B", text: "beyond, and as binding", part: "gates" },
];
const isLater = (part: string) => part === "cluster";
const mutation: Mutation = { id: "X0-1-1", file: "a.ts", find: "b < c", replace: "b <= c" };
const exempt = { id: "B-SIGN-1", none: "because" };

test("each row that must hold has a mutation or a reason, unless its part is not built yet", () => {
  expect(tableFaults(rows, [mutation, exempt], isLater)).toEqual([]);
  expect(tableFaults(rows, [], isLater)).toEqual([
    "X0-1-1 has neither a mutation nor a reason to have none",
    "B-SIGN-1 has neither a mutation nor a reason to have none",
  ]);
});

test("a reason stands alone, is not empty, and is for a row that exists", () => {
  expect(tableFaults(rows, [mutation, exempt, { id: "X0-1-1", none: "why" }], isLater)).toEqual([
    "X0-1-1 has a mutation and a reason to have none",
  ]);
  expect(tableFaults(rows, [mutation, { id: "B-SIGN-1", none: " " }], isLater)).toEqual([
    "B-SIGN-1 has no mutation and an empty reason",
  ]);
  expect(tableFaults(rows, [mutation, exempt, { ...mutation, id: "X0-9-9" }], isLater)).toEqual([
    "X0-9-9 is not in the ledger",
  ]);
});

test("an edit goes where its text stands once, and nowhere else", () => {
  expect(placeOf(mutation, "if (a)\n  if (b < c) d();")).toEqual({ line: 2 });
  expect(placeOf(mutation, undefined)).toEqual({ stale: "the file does not exist" });
  expect(placeOf(mutation, "b <= c")).toEqual({ stale: "the text to replace is not there" });
  expect(placeOf(mutation, "b < c; b < c")).toEqual({ stale: "the text to replace is there more than once" });
  expect(placeOf({ ...mutation, replace: "b < c" }, "b < c")).toEqual({ stale: "the edit changes nothing" });
});

test("what is put in is taken letter for letter", () => {
  expect(edited({ ...mutation, replace: "$& $1 `${x}`" }, "if (b < c) d();")).toBe("if ($& $1 `${x}`) d();");
});
