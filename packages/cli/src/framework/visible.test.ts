import { expect, test } from "vitest";
import { cut } from "./visible.ts";

test("cutting never leaves half a character", () => {
  expect(cut("short", 10)).toBe("short");
  expect(cut("abcdef", 4)).toBe("abc…");
  expect(cut("ab👍cd", 4)).toBe("ab…");
});
