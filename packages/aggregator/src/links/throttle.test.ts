import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Throttle } from "./throttle.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("so many a second, four times as many at once, and the rest is counted and told of once a second", () => {
  const told: number[] = [];
  const throttle = new Throttle(10, (dropped) => told.push(dropped));
  const admitted = () => Array.from({ length: 100 }, () => throttle.admits()).filter(Boolean).length;
  expect(admitted()).toBe(40);
  expect(told).toEqual([]);
  vi.advanceTimersByTime(1_000);
  expect(told).toEqual([60]);
  expect(admitted()).toBe(10);
  throttle.flush();
  expect(told).toEqual([60, 90]);
  vi.advanceTimersByTime(10_000);
  expect(told).toEqual([60, 90]);
});
