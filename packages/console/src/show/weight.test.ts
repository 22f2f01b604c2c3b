import { expect, test } from "vitest";
import { weightOf } from "./weight.ts";

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
