import fc from "fast-check";
import { expect, test } from "vitest";
import { readUnambiguous } from "./read-unambiguous.ts";

const refused = (detail: string) => expect.objectContaining({ code: "bad_params", detail });

test("what JSON.parse reads is read alike, however it is written", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(undefined, 1, "\t"), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(readUnambiguous(text)).toEqual(JSON.parse(text));
    }),
    { seed: 5, numRuns: 300 },
  );
  expect(readUnambiguous(' { "a" : [ ] , "b":{},"c":[[1],[{}]] } ')).toEqual({
    a: [],
    b: {},
    c: [[1], [{}]],
  });
  expect(readUnambiguous('{"__proto__":{"a":1}}')).toEqual(JSON.parse('{"__proto__":{"a":1}}'));
});

test.each([
  ['{"amount":1,"amount":999}', '"amount" occurs twice'],
  ['{"amount":999,"\\u0061mount":1}', '"amount" occurs twice'],
  ['{"a":[{"b":{"c":1,"c":1}}]}', '"c" occurs twice'],
  ["[9007199254740993]", "9007199254740993 is a number that would be rounded"],
  [
    '{"n":0.1000000000000000055511151231257827}',
    "0.1000000000000000055511151231257827 is a number that would be rounded",
  ],
  ['{"n":1e400}', "1e400 is a number that would be rounded"],
  ['{"n":1e-9999999999999999}', "1e-9999999999999999 is a number that would be rounded"],
])("refused: %s", (text, detail) => {
  expect(() => readUnambiguous(text)).toThrow(refused(detail));
});

test.each([
  ["1.0", 1],
  ["1e0", 1],
  ["-0", -0],
  ["9007199254740992", 9_007_199_254_740_992],
  ['{"e\\u0301":1,"\u00e9":2}', { "e\u0301": 1, "\u00e9": 2 }],
])("one meaning, and so taken: %s", (text, value) => {
  expect(readUnambiguous(text)).toEqual(value);
});
