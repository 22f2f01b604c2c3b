import { expect, test } from "vitest";
import { diffLines, diffText } from "./text-diff.ts";

const shown = (before: string, after: string) => diffLines(before, after).map((line) => diffText(line));

test("only what changes is shown, with two lines around it", () => {
  const lines = ["1", "2", "3", "4", "5", "6", "7", "8"];
  const text = lines.join("\n");
  expect(shown(text, text.replace("5", "five\n5b"))).toEqual([
    ...["  …", "    3", "    4", "  - 5", "  + five", "  + 5b", "    6", "    7", "  …"],
  ]);
  expect(shown(text, text)).toEqual([]);
  expect(shown("", "a\nb\n")).toEqual(["  + a", "  + b"]);
  expect(shown("a\n", "")).toEqual(["  - a"]);
});

test("a line is at most as wide as the screen, and steers no terminal", () => {
  expect(diffText({ sign: "+", text: "x".repeat(500) })).toHaveLength(100);
  expect(diffText({ sign: "+", text: "\u001b[2J" })).toBe("  + \\u001b[2J");
});
