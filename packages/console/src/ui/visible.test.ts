import { expect, test } from "vitest";
import { cut, quotedParts, visibleParts } from "./visible.ts";

const shown = (text: string, keepsLines = false) =>
  visibleParts(text, keepsLines)
    .map((part) => (part.isMark ? `[${part.text}]` : part.text))
    .join("");

test("what would not be seen is named", () => {
  expect(shown("photo\u202egpj.exe\u200b\u0000")).toBe("photo[U+202E]gpj.exe[U+200B][U+0000]");
  expect(shown("a\u00a0b\u2028c\ufeff\ud800")).toBe("a[U+00A0]b[U+2028]c[U+FEFF][U+D800]");
  expect(shown("line\nnext\ttab\r")).toBe("line[↵]next[⇥]tab[␍]");
  expect(shown("line\nnext", true)).toBe("line\nnext");
  expect(shown(`z${"\u0301".repeat(9)}`)).toBe(`z\u0301\u0301\u0301${"[U+0301]".repeat(6)}`);
  expect(shown("Grüße, 日本 🙂 <b>")).toBe("Grüße, 日本 🙂 <b>");
});

test("[AX-11.3-2] nothing in a text ends its quotes, and a line that is broken is named", () => {
  const quoted = (text: string) =>
    quotedParts(text)
      .map((part) => (part.isMark ? `[${part.text}]` : part.text))
      .join("");
  expect(quoted('a" force true path "b')).toBe('a\\" force true path \\"b');
  expect(quoted('a\\" b')).toBe('a\\\\\\" b');
  expect(quoted("a\nforce true\tx\u202e")).toBe("a[↵]\nforce true[⇥]x[U+202E]");
  // Who writes the sign is not taken for the line.
  expect(quoted("a↵b")).toBe("a↵b");
});

test("of what is long the beginning and the end are seen, and how much is not", () => {
  const { head, hidden, tail } = cut(`${"a".repeat(5_000)}END`, 400);
  expect(head.length + hidden + tail.length).toBe(5_003);
  expect(tail.endsWith("END")).toBe(true);
  expect(cut("short", 400)).toEqual({ head: "short", hidden: 0, tail: "" });
  const roomEndpoints = cut("🙂".repeat(500), 101);
  expect((roomEndpoints.head + roomEndpoints.tail).isWellFormed()).toBe(true);
});
