import { expect, test } from "vitest";
import { formatDuration, parseDuration } from "./duration.ts";

test("durations are a number and a unit", () => {
  expect(parseDuration("30s")).toBe(30_000);
  expect(parseDuration("15m")).toBe(900_000);
  expect(parseDuration("1h")).toBe(3_600_000);
  expect(parseDuration("7d")).toBe(604_800_000);
});

test.each(["", "5", "s", "1y", "1.5h", "-1h", " 1h", "1h ", "0s", "1h30m", "9999999d"])(
  "%j is no duration",
  (text) => {
    expect(parseDuration(text)).toBeUndefined();
  },
);

test("durations are shown in the unit that says it well", () => {
  expect(formatDuration(90_000)).toBe("90s");
  expect(formatDuration(60_000)).toBe("1m");
  expect(formatDuration(3_599_000)).toBe("59m");
  expect(formatDuration(604_800_000)).toBe("7d");
  expect(formatDuration(-5)).toBe("0s");
});
