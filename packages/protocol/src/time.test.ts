import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isTimestamp, timestampMs } from "./time.ts";

describe("[X0-4-4] an RFC 3339 timestamp", () => {
  test.each([
    // The examples of RFC 3339, section 5.8.
    "1985-04-12T23:20:50.52Z", "1996-12-19T16:39:57-08:00", "1990-12-31T23:59:60Z", "1990-12-31T15:59:60-08:00",
    "1937-01-01T12:00:27.87+00:20",
    "2025-08-17T14:00:00Z", "2025-08-17t14:00:00z", "2025-08-17T14:00:00+00:00", "2025-08-17T14:00:00-00:00",
    "2025-08-17T14:00:00.1Z", "2025-08-17T14:00:00.123456789Z", "2025-08-17T14:00:00.123456789012345678+05:45",
    "2025-08-17T00:00:00+23:59", "2025-08-17T23:59:59-23:59", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
    "2024-02-29T00:00:00Z", "2000-02-29T00:00:00Z", "2017-01-01T05:29:60+05:30",
  ])("%s is one", (text) => {
    expect(isTimestamp(text)).toBe(true);
    expect(timestampMs(text)).not.toBeNaN();
  }); // biome-ignore format: a list

  test.each([
    // Days, hours and seconds that never were.
    "2025-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2024-02-30T00:00:00Z", "2025-04-31T00:00:00Z",
    "2025-06-31T00:00:00Z", "2025-09-31T00:00:00Z", "2025-11-31T00:00:00Z", "2025-01-32T00:00:00Z",
    "2025-00-01T00:00:00Z", "2025-13-01T00:00:00Z", "2025-01-00T00:00:00Z", "2025-01-01T24:00:00Z",
    "2025-01-01T25:00:00Z", "2025-01-01T00:60:00Z", "2025-01-01T23:59:61Z", "2025-01-01T00:00:00+24:00",
    "2025-01-01T00:00:00+00:60",
    // Leap seconds not at the end of a day of UTC.
    "1998-12-31T23:58:60Z", "1998-12-31T22:59:60Z", "1998-12-31T23:59:60+01:00", "1998-12-31T15:59:60+08:00",
    // Other notations.
    "", "2025", "2025-08-17", "14:00:00Z", "2025-08-17T14:00:00", "2025-08-17 14:00:00Z", "2025-08-17T14:00Z",
    "2025-08-17T14:00:00.Z", "2025-08-17T14:00:00,5Z", "2025-08-17T14:00:00+0200", "2025-08-17T14:00:00+02",
    "2025-08-17T14:00:00Z+00:00", "2025-08-17T14:00:00 Z", "20250817T140000Z", "2025-8-17T14:00:00Z",
    "2025-W33-7T14:00:00Z", "2025-229T14:00:00Z", "+002025-08-17T14:00:00Z", "-2025-08-17T14:00:00Z",
    "12025-08-17T14:00:00Z", "Sun, 17 Aug 2025 14:00:00 GMT", "1755439200", "now",
    // Company.
    " 2025-08-17T14:00:00Z", "2025-08-17T14:00:00Z ", "2025-08-17T14:00:00Z\n", "2025-08-17T14:00:00Z\0",
    "\u0662\u0660\u0662\u0665-08-17T14:00:00Z", "\uff12\uff10\uff12\uff15-08-17T14:00:00Z", "2025-08-17T14:00:00\u221208:00",
    `2025-08-17T14:00:00.${"1".repeat(100)}Z`,
  ])("%j is none", (text) => {
    expect(isTimestamp(text)).toBe(false);
  }); // biome-ignore format: a list

  test.each([1755439200000, null, undefined, true, [], ["2025-08-17T14:00:00Z"], {}, new Date(0)])(
    "%s is none: it is no string",
    (value) => {
      expect(isTimestamp(value)).toBe(false);
    },
  );

  const two = (value: number) => String(value).padStart(2, "0");

  test("a date is one exactly if the calendar has it", () => {
    const dates = fc.tuple(fc.nat(9_999), fc.nat(14), fc.nat(33));
    fc.assert(
      fc.property(dates, ([year, month, day]) => {
        const calendar = new Date(0);
        calendar.setUTCFullYear(year, month - 1, day);
        const exists = calendar.getUTCMonth() === month - 1 && calendar.getUTCDate() === day;
        const text = `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}T00:00:00Z`;
        expect(isTimestamp(text)).toBe(exists);
      }),
      { numRuns: 2_000 },
    );
  });

  test("every moment, at every offset and fraction, is one and keeps its milliseconds", () => {
    const from = Date.UTC(1, 0, 2);
    const until = Date.UTC(9_999, 11, 30);
    const moment = fc.integer({ min: from, max: until });
    const offset = fc.integer({ min: -1_439, max: 1_439 });
    const more = fc.string({ unit: fc.constantFrom(..."0123456789"), maxLength: 9 });
    fc.assert(
      fc.property(moment, offset, more, fc.boolean(), (ms, minutes, digits, isLower) => {
        const local = new Date(ms + minutes * 60_000).toISOString().slice(0, -1);
        const size = Math.abs(minutes);
        const zone = `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
        const text = `${isLower ? local.toLowerCase() : local}${digits}${zone}`;
        expect(isTimestamp(text)).toBe(true);
        expect(timestampMs(text)).toBe(ms);
      }),
    );
  });

  test("a leap second counts as the second before it", () => {
    expect(timestampMs("1990-12-31T23:59:60Z")).toBe(Date.UTC(1990, 11, 31, 23, 59, 59));
    expect(timestampMs("1990-12-31T15:59:60.250-08:00")).toBe(Date.UTC(1990, 11, 31, 23, 59, 59, 250));
  });

  test("whatever is taken has milliseconds", () => {
    const digit = fc.constantFrom(..."0123456789");
    const shape = fc
      .tuple(fc.array(digit, { minLength: 18, maxLength: 18 }), fc.constantFrom("Z", "z", "+", "-"))
      .map(([[...d], zone]) => {
        const [a, b, c, e, f, g, h, i, j, k, l, m, n, o, ...rest] = d;
        const end = zone.toUpperCase() === "Z" ? zone : `${zone}${rest[0]}${rest[1]}:${rest[2]}${rest[3]}`;
        return `${a}${b}${c}${e}-${f}${g}-${h}${i}T${j}${k}:${l}${m}:${n}${o}${end}`;
      });
    fc.assert(
      fc.property(shape, (text) => {
        if (isTimestamp(text)) expect(timestampMs(text)).not.toBeNaN();
      }),
      { numRuns: 2_000 },
    );
  });
});
