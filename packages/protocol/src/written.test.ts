import { expect, test } from "vitest";
import { numeric, written } from "./written.ts";

const odd = JSON.parse('{"toString":1,"valueOf":{}}') as unknown;

test("any JSON is written and counted, also what String and Number throw for", () => {
  expect(() => String(odd)).toThrow(TypeError);
  expect([odd, [odd], "x", 1.5, null, undefined].map(written)).toEqual([
    '{"toString":1,"valueOf":{}}',
    '[{"toString":1,"valueOf":{}}]',
    "x",
    "1.5",
    "null",
    "undefined",
  ]);
  expect([odd, [1], null, undefined, "7", 7].map(numeric)).toEqual([NaN, NaN, NaN, NaN, 7, 7]);
});
