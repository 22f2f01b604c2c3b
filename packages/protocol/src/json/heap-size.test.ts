import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { parseExact } from "./exact-json.ts";
import { heapBytesOf, stringBytesOf } from "./heap-size.ts";

// At run time, so that the suite needs no flag of its own.
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const count = 50_000;
const list = (item: (i: number) => string) => `[${Array.from({ length: count }, (_, i) => item(i)).join()}]`;
const schema = (i: number) =>
  JSON.stringify({
    name: `tool-${i}`,
    description: "Reads the temperature of a room in the building.",
    inputSchema: { type: "object", properties: { room: { type: "string" } }, required: ["room"] },
  });

/** What a text takes once it is read: the middle of three, since the collector may free others' memory meanwhile. */
function taken(text: string): { bytes: number; value: unknown } {
  const [, middle] = [1, 2, 3].map(() => takenOnce(text)).sort((a, b) => a.bytes - b.bytes);
  if (middle === undefined) throw new Error("three are three");
  return middle;
}

function takenOnce(text: string): { bytes: number; value: unknown } {
  collect();
  collect();
  const before = process.memoryUsage().heapUsed;
  const value = parseExact(text);
  collect();
  collect();
  return { bytes: process.memoryUsage().heapUsed - before, value };
}

test.each([
  ["empty objects", list(() => "{}")],
  ["empty lists", list(() => "[]")],
  ["lists in lists", list(() => "[[[[[[[[]]]]]]]]")],
  ["objects with one key", list(() => '{"a":1}')],
  ["objects with a key of their own", list((i) => `{"k${i}":1}`)],
  ["objects with a number for a key", list((i) => `{"${i + 5_000}":1}`)],
  ["one object of many keys", `{${Array.from({ length: count }, (_, i) => `"k${i}":1`).join()}}`],
  ["numbers", list((i) => `${i}`)],
  ["numbers among others", list((i) => (i % 2 === 0 ? "1.5" : "null"))],
  ["numbers that are kept as text", list((i) => `1.${i}0`)],
  ["short texts", list((i) => `"a${i}"`)],
  ["long texts", list((i) => `"${i}${"x".repeat(100)}"`)],
  ["texts of two bytes a character", list((i) => `"${i}${"ж".repeat(100)}"`)],
  ["tools", list(schema)],
])("the estimate for %s is not less than what they take, and not many times that", (_what, text) => {
  const { bytes, value } = taken(text);
  const estimate = heapBytesOf(value);
  expect(bytes / count).toBeGreaterThan(5);
  // The collector leaves a few kilobytes of others.
  expect(estimate + 65_536).toBeGreaterThanOrEqual(bytes);
  expect(estimate).toBeLessThan(8 * bytes);
});

test("three characters are counted as what they are", () => {
  expect(heapBytesOf([{}, {}, {}])).toBeGreaterThanOrEqual(3 * 64);
  expect(stringBytesOf("x".repeat(1_000))).toBeLessThan(1_100);
  expect(stringBytesOf("ж".repeat(1_000))).toBeGreaterThanOrEqual(2_000);
  expect([heapBytesOf(null), heapBytesOf(1), heapBytesOf(undefined)]).toEqual([0, 0, 0]);
});

test("it stops counting beyond what was asked, and does not mind depth", () => {
  const wide = Array.from({ length: 100_000 }, () => ({}));
  expect(heapBytesOf(wide, 1_000)).toBeLessThan(2 * 100_000 * 16);
  let deep: unknown = [];
  for (let i = 0; i < 200_000; i += 1) deep = [deep];
  expect(heapBytesOf(deep)).toBeGreaterThan(200_000 * 40);
});
