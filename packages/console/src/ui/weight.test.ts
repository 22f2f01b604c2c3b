import { parseExact } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { foldNotice, isDeep, isFolded, levelsAtOnce, weightOf } from "./weight.ts";

test("counts what would be shown", () => {
  expect(weightOf("text", 100)).toBe(1);
  expect(weightOf({ a: [1, 2], b: {} }, 100)).toBe(5);
  // Of a long list only its beginning is shown at once.
  expect(
    weightOf(
      Array.from({ length: 2_000 }, () => 0),
      100,
    ),
  ).toBe(51);
});

test("stops counting where it is enough", () => {
  const deep = (levels: number): unknown =>
    levels === 0 ? 0 : Array.from({ length: 10 }, () => deep(levels - 1));
  expect(weightOf(deep(5), 100)).toBe(100);
  const endless: Record<string, unknown> = {};
  endless.self = endless;
  expect(weightOf(endless, 100)).toBe(100);
});

/** So many lists, one in the other. */
const nested = (levels: number): unknown => (levels === 0 ? "rm -rf /" : [nested(levels - 1)]);

test("[AX-11.3-2] what stands too deep is folded and said to be, however small it is; what is empty is not", () => {
  const all = Number.POSITIVE_INFINITY;
  expect(isFolded([1], levelsAtOnce - 1, all)).toBe(false);
  expect(isFolded([1], levelsAtOnce, all)).toBe(true);
  expect(isFolded({ a: 1 }, levelsAtOnce, all)).toBe(true);
  for (const value of [[], {}, "text", 1, null, parseExact("1234567890.12345678901234567890")]) {
    expect(isFolded(value, levelsAtOnce, all)).toBe(false);
  }
  expect(isDeep(nested(levelsAtOnce))).toBe(false);
  expect(isDeep({ a: 1, b: nested(levelsAtOnce) })).toBe(true);
  expect(foldNotice(nested(levelsAtOnce))).toBeUndefined();
  expect(foldNotice(nested(levelsAtOnce + 1))).toMatch(/are deep: what is folded/);
  expect(foldNotice(["x".repeat(900)])).toMatch(/are long: what is folded/);
  expect(foldNotice(["x".repeat(900), nested(levelsAtOnce)])).toMatch(/are long and deep:/);
});

test("what is large is folded where it has only its share", () => {
  expect(isFolded([1, 2, 3], 1, 3)).toBe(true);
  expect(isFolded([1, 2, 3], 1, 4)).toBe(false);
});
