import { expect, test } from "vitest";
import { closeCodes, mayComeBack } from "./close-codes.ts";

test.each([
  ["normal", 1000, true],
  ["goingAway", 1001, true],
  ["badText", 1007, true],
  ["badFrame", 4400, false],
  ["unauthorised", 4401, false],
  ["forbidden", 4403, false],
  ["unsupportedProtocol", 4406, false],
  ["replaced", 4409, false],
  ["abuse", 4429, false],
  ["internal", 4500, true],
  ["draining", 4503, true],
  ["tooSlow", 4508, true],
] as const)("%s is %i, and coming back as you are is wanted: %s", (name, code, comesBack) => {
  expect(closeCodes[name]).toBe(code);
  expect(mayComeBack(code)).toBe(comesBack);
});

test("there are no others", () => {
  expect(Object.keys(closeCodes)).toHaveLength(12);
});

test.each([
  [1006, true],
  [4399, true],
  [4400, false],
  [4499, false],
  [4500, true],
  [4599, true],
])("the range decides about codes of later versions: %i is %s", (code, comesBack) => {
  expect(mayComeBack(code)).toBe(comesBack);
});
