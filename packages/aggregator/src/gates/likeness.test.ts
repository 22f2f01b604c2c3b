import { expect, test } from "vitest";
import { likeness } from "./likeness.ts";

test("names that look alike are alike, others are not", () => {
  for (const [one, other] of [
    ["alice", "Alice"],
    ["alice", "a1ice"],
    ["bill", "bi11"],
    ["bob", "b0b"],
    ["ops.team", "ops-team"],
    ["marnie", "mamie"],
  ] as const)
    expect(likeness(one)).toBe(likeness(other));
  expect(likeness("alice")).not.toBe(likeness("alicia"));
  expect(likeness("anna")).not.toBe(likeness("hanna"));
});
