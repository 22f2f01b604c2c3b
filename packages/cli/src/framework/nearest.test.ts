import { expect, test } from "vitest";
import { nearest, suggestion } from "./nearest.ts";

test("a slip of the finger finds the word that was meant", () => {
  const words = ["up", "tail", "token", "backup"];
  expect(nearest("tial", words)).toBe("tail");
  expect(nearest("tokn", words)).toBe("token");
  expect(nearest("Token", words)).toBe("token");
  expect(nearest("u", words)).toBe("up");
});

test("a word far from all is not guessed", () => {
  expect(nearest("frobnicate", ["up", "tail"])).toBeUndefined();
  expect(suggestion("frobnicate", ["up"])).toBeUndefined();
  expect(nearest("x", [])).toBeUndefined();
});

test("a suggestion is shown the way it is written", () => {
  expect(suggestion("prot", ["port"], "--")).toBe("did you mean --port?");
});
