import { expect, test } from "vitest";
import { titlesWithoutAssertion } from "./assertions.ts";

const weakIn = (text: string, path = "tests/a.test.ts") => titlesWithoutAssertion({ path, text });

test.each([
  `test("[X0-1-1] a", () => { expect(f()).toBe(1); });`,
  `test("[X0-1-1] a", async () => { await expectTruth(place); });`,
  `test.each([1])("[X0-1-1] a", { timeout }, (n) => { assert.equal(n, 1); });`,
  `describe("[X0-1-1] a", () => { test("b", () => { expect(1).toBe(1); }); });`,
  `function same(a) { expect(a).toBe(1); }\ntest("[X0-1-1] a", () => same(f()));`,
  `function same(a) { expect(a).toBe(1); }\nasync function all() {\n  same(1);\n}\ntest("[X0-1-1] a", all);`,
  `describe("d", () => {\n  async function same() {\n    expect(1).toBe(1);\n  }\n  test("[X0-1-1] a", () => same());\n});`,
  `test("a title without an id", () => { f(); });`,
])("asserts: %s", (text) => {
  expect(weakIn(text)).toEqual([]);
});

test.each([
  `test("[X0-1-1] a", () => { f(); });`,
  `test("[X0-1-1] a", () => { f("expect(x)"); /* expect(x) */ });`,
  `test("[X0-1-1] a", () => { f(); });\ntest("b", () => { expect(1).toBe(1); });`,
])("asserts nothing: %s", (text) => {
  expect(weakIn(text)).toEqual(['"[X0-1-1] a"']);
});

test("a transcript is compared line by line", () => {
  expect(weakIn("[X0-1-1] Romeo chats", "tests/transcripts/chat.txt")).toEqual([]);
});
