import { expect, test } from "vitest";
import { createLineMeter } from "./line-meter.ts";

const limits = { deviceLineBytesPerSecond: 1_000, deviceNoiseBytesMax: 500 };

test("[AX-10.4-1] a line is read as fast as it may bring bytes, after a burst of a quarter of a second", () => {
  const meter = createLineMeter(limits, 0);
  expect(meter.charge(250, 0)).toBe(0);
  expect(meter.charge(100, 0)).toBe(100);
  expect(meter.charge(0, 99)).toBe(1);
  expect(meter.charge(0, 100)).toBe(0);
  // What was not used for an hour is no more than a burst.
  expect(meter.charge(251, 3_600_000)).toBe(1);
  // A clock that steps back gives nothing.
  expect(meter.charge(0, 0)).toBe(1);
});

test("[AX-10.4-1] what nothing can be read of is noise once it is too much; slow noise and what can be read are not", () => {
  const fast = createLineMeter(limits, 0);
  fast.reads(500, 0);
  expect(fast.isNoise()).toBe(false);
  fast.reads(1, 0);
  expect(fast.isNoise()).toBe(true);
  fast.heard();
  expect(fast.isNoise()).toBe(false);
  const slow = createLineMeter(limits, 0);
  for (let second = 1; second < 100; second += 1) slow.reads(400, second * 1_000);
  expect(slow.isNoise()).toBe(false);
});
