import { expect, test } from "vitest";
import { confusableSkeleton } from "./confusable-name.ts";

test("names that look alike are alike, others are not", () => {
  for (const [one, other] of [
    ["alice", "Alice"],
    ["alice", "a1ice"],
    ["bill", "bi11"],
    ["bob", "b0b"],
    ["ops.team", "ops-team"],
    ["marnie", "mamie"],
  ] as const)
    expect(confusableSkeleton(one)).toBe(confusableSkeleton(other));
  expect(confusableSkeleton("alice")).not.toBe(confusableSkeleton("alicia"));
  expect(confusableSkeleton("anna")).not.toBe(confusableSkeleton("hanna"));
});
