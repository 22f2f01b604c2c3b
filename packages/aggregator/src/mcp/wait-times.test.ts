import { expect, test } from "vitest";
import { waitMsOf } from "./wait-times.ts";

test("waiting ends before any client we know gives up, longer where it hears that it goes on", () => {
  expect(waitMsOf(undefined, false)).toBe(30_000);
  expect(waitMsOf(undefined, true)).toBe(50_000);
  expect(waitMsOf(4_000, true)).toBe(4_000);
  expect(waitMsOf(0, false)).toBe(0);
  expect(waitMsOf(1e9, false)).toBe(100_000);
});
