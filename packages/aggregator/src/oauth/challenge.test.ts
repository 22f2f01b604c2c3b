import { expect, test } from "vitest";
import { parseChallenge } from "./challenge.ts";

test("a Bearer challenge is read wherever it stands, in any spelling", () => {
  const expected = {
    error: "insufficient_scope",
    scope: "a b",
    resourceMetadata: new URL("https://s.example/m"),
  };
  for (const header of [
    'Bearer error="insufficient_scope", scope="a b", resource_metadata="https://s.example/m"',
    'bearer resource_metadata="https://s.example/m",scope="a b",error=insufficient_scope',
    'Basic realm="x, Bearer", BEARER Scope = "a b" , error="insufficient\\_scope", resource_metadata="https://s.example/m"',
    'Bearer scope="a b", error="insufficient_scope", resource_metadata="https://s.example/m", Bearer scope="c"',
  ]) {
    expect(parseChallenge(header)).toEqual(expected);
  }
});

test("parameters of other schemes, and those whose name only ends alike, are not taken", () => {
  expect(parseChallenge('Basic scope="a"')).toEqual({});
  expect(parseChallenge('Bearer my_scope="a", x-error="b"')).toEqual({});
  expect(parseChallenge('Bearer realm="scope=\\"a\\""')).toEqual({});
});

test("the first of two equal parameters counts", () => {
  expect(parseChallenge('Bearer scope="a", scope="b"')).toEqual({ scope: "a" });
});

test("what is no scope and no address is left out", () => {
  expect(parseChallenge('Bearer scope="a\\\\b", resource_metadata="nowhere"')).toEqual({});
  expect(parseChallenge('Bearer scope=" a"')).toEqual({});
});

test.each([
  undefined,
  "",
  "Bearer",
  ",,,",
  '"',
  'Bearer scope="',
  "=",
  `Bearer scope="${"a".repeat(5_000)}"`,
])("%j says nothing", (header) => expect(parseChallenge(header)).toEqual({}));

test("long nonsense is read in no time", () => {
  const started = performance.now();
  for (const piece of [" ", ",", '"', "\\", "a=", '="', "a "])
    parseChallenge(`Bearer ${piece.repeat(100_000)}`);
  // Linear needs milliseconds, quadratic a minute.
  expect(performance.now() - started).toBeLessThan(2_000);
});
