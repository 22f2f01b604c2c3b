import { expect, test } from "vitest";
import { replaceBetween } from "./replace-between.ts";

const upper = (text: string) => replaceBetween(text, ["<", ">"], (inside) => inside.toUpperCase());

test("what stands between the marks is replaced, each time", () => {
  expect(upper("a <b> c <d>e")).toBe("a B c De");
  expect(upper("none")).toBe("none");
  expect(upper("<>")).toBe("");
});

test("what does not end stays, however often it begins", () => {
  expect(upper("a <b")).toBe("a <b");
  expect(upper("<a><b")).toBe("A<b");
  expect(upper("<".repeat(100_000))).toBe("<".repeat(100_000));
});
