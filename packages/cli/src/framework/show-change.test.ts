import { expect, test } from "vitest";
import { changedLines } from "./show-change.ts";

const secret = "SECRETVALUE1234567890";

test("secrets are hidden before a line is cut, and what is cut says so", () => {
  const [line] = changedLines("", `${"x".repeat(100_000 - 10)}${secret}`, [secret]);
  expect(line?.text.slice(-5)).toBe("xx•••");
  const [long] = changedLines("", `${"x".repeat(100_012)}`, []);
  expect(long?.text.slice(-10)).toBe("x… 12 more");
  expect(changedLines("", "short", [])).toEqual([{ sign: "+", text: "short" }]);
});
