import { expect, test } from "vitest";
import { outcomeOf } from "./run-tests.ts";

const result = (title: string, status: string) => ({ title, fullName: `suite ${title}`, status });
const file = (status: string, ...assertionResults: ReturnType<typeof result>[]) => ({
  name: "/copy/a.test.ts",
  status,
  message: "cannot load\n  at all",
  assertionResults,
});
const outcome = (...testResults: ReturnType<typeof file>[]) =>
  outcomeOf({ testResults }, "/copy", "[X0-1-1]");

test("red is a failed test that names the requirement", () => {
  const red = file("failed", result("[X0-1-1] a", "failed"), result("[X0-1-1] b", "skipped"));
  expect(outcome(red)).toEqual({ kind: "red", file: "a.test.ts", test: "[X0-1-1] a" });
  expect(outcome(file("failed", result("[X0-1-2] a", "failed"), result("[X0-1-1] b", "passed")))).toEqual({
    kind: "green",
    tests: 1,
  });
});

test("a hook of a file that fails when only some tests run is no failed test", () => {
  expect(outcome(file("failed", result("[X0-1-1] a", "passed")))).toEqual({ kind: "green", tests: 1 });
});

test("what could not be loaded, or ran no test, shows nothing", () => {
  expect(outcome(file("failed"))).toEqual({ kind: "broken", why: "cannot load" });
  expect(outcome(file("passed", result("[X0-1-1] a", "skipped")))).toEqual({
    kind: "broken",
    why: "no test named [X0-1-1] ran",
  });
  expect(outcomeOf(undefined, "/copy", "[X0-1-1]")).toEqual({ kind: "broken", why: "vitest left no report" });
});
