import fc from "fast-check";
import { expect, test } from "vitest";
import { shareOf } from "./share.ts";

test("one alone has half, the next half of what is left, and the last place is somebody's", () => {
  expect(shareOf(64, 0)).toBe(32);
  expect(shareOf(64, 32)).toBe(16);
  expect([shareOf(64, 63), shareOf(64, 64), shareOf(64, 70)]).toEqual([1, 0, 0]);
});

test("whoever takes all it may leaves as much for the next, but for the last place", () => {
  fc.assert(
    fc.property(fc.nat(10_000), fc.nat(10_000), (max, others) => {
      const own = shareOf(max, others);
      const left = max - others - own;
      expect(own).toBeGreaterThanOrEqual(others < max ? 1 : 0);
      expect(left >= own || left === 0 || others > max).toBe(true);
    }),
  );
});
