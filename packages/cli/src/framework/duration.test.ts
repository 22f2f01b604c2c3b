import { expect, test } from "vitest";
import { endText, formatDuration, parseDuration } from "./duration.ts";

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

test("an end is told by the clock, and on another day with the day", () => {
  const now = new Date(2026, 10, 19, 5, 54, 45).getTime();
  expect(endText(now + 240_000, now)).toBe("05:58:45, 4m left");
  expect(endText(now + 7 * 86_400_000, now)).toBe("2026-11-26 05:54:45, 7d left");
});
