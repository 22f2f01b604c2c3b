import fc from "fast-check";
import { expect, test } from "vitest";
import {
  bucketTimes,
  durationText,
  logPart,
  logRange,
  niceMax,
  powersBetween,
  quantile,
  topBars,
} from "./charts.ts";

test("every time is in one bucket", () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 100_000_000 }), { maxLength: 50 }), (times) => {
      expect(bucketTimes(times).reduce((sum, { count }) => sum + count, 0)).toBe(times.length);
    }),
  );
  expect(bucketTimes([4_999, 5_000]).slice(0, 2)).toEqual([
    { label: "< 5 s", count: 1 },
    { label: "< 15 s", count: 1 },
  ]);
});

test("a quantile is one of the values, and nothing where there are none", () => {
  expect(quantile([], 0.5)).toBeUndefined();
  expect(quantile([3, 1, 2], 0.5)).toBe(2);
  expect(quantile([1, 2, 3, 4], 0.95)).toBe(4);
});

test("axes end at round numbers and hold everything", () => {
  expect([niceMax([]), niceMax([3]), niceMax([7]), niceMax([12, 40]), niceMax([1_000])]).toEqual([
    1, 5, 10, 50, 1_000,
  ]);
  expect(logRange([3, 420])).toEqual({ from: 1, to: 1_000 });
  expect(logRange([0])).toEqual({ from: 1, to: 1_000 });
  expect(powersBetween(1, 1_000)).toEqual([1, 10, 100, 1_000]);
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1e7, noNaN: true }), { maxLength: 20 }), (values) => {
      const { from, to } = logRange(values);
      for (const value of values) {
        const part = logPart(value, from, to);
        expect(part).toBeGreaterThanOrEqual(0);
        expect(part).toBeLessThanOrEqual(1);
      }
      expect(niceMax(values)).toBeGreaterThanOrEqual(Math.max(0, ...values));
    }),
  );
});

test("of many bars the rest become one, and nothing is lost", () => {
  const counts = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`s${i}`, i]));
  const bars = topBars(counts, 8);
  expect(bars).toHaveLength(8);
  expect(bars[0]).toEqual({ label: "s29", count: 29 });
  expect(bars.at(-1)?.label).toBe("23 others");
  expect(bars.reduce((sum, { count }) => sum + count, 0)).toBe(435);
});

test("durations as people say them", () => {
  expect([0.4, 12, 1_234, 42_000, 200_000, 3_600_000, 90_000_000].map(durationText)).toEqual([
    "0.4 ms",
    "12 ms",
    "1.2 s",
    "42 s",
    "3 min 20 s",
    "1 h",
    "1 d 1 h",
  ]);
});
