import fc from "fast-check";
import { expect, test } from "vitest";
import { backoffMs } from "./backoff.ts";

const options = { minMs: 200, maxMs: 15_000 };

test("waits double from the least, are jittered by half and never longer than the most", () => {
  expect([0, 1, 2, 3].map((attempt) => backoffMs(attempt, options, 1))).toEqual([200, 400, 800, 1_600]);
  expect(backoffMs(0, options, 0)).toBe(100);
  fc.assert(
    fc.property(fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), (attempt, chance) => {
      const ms = backoffMs(attempt, options, chance);
      expect(ms).toBeGreaterThanOrEqual(100);
      expect(ms).toBeLessThanOrEqual(15_000);
    }),
  );
});
