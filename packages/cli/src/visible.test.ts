import { expect, test } from "vitest";
import { cut, jsonLine, visible } from "./visible.ts";

test("what could steer a terminal is shown, not passed on", () => {
  expect(visible("\u001b[2Jgone\u0007")).toBe("\\u001b[2Jgone\\u0007");
  expect(visible("a\u009b31mb\u007f")).toBe("a\\u009b31mb\\u007f");
  expect(visible("safe\u202eexe.txt")).toBe("safe\\u202eexe.txt");
  expect(visible("a\u2028b\ud800c")).toBe("a\\u2028b\ufffdc");
  expect(visible("\u{e0041}")).toBe("\\udb40\\udc41");
});

test("line ends cannot make a second line", () => {
  expect(visible("one\ntwo\r\nthree\rfour")).toBe("one ⏎ two ⏎ three\\u000dfour");
});

test("text in any script and emoji stay as they are", () => {
  expect(visible("Grüße 你好 👩‍💻")).toBe("Grüße 你好 👩‍💻");
});

test("JSON becomes one line that means the same", () => {
  const text = '{\n  "a": "x\u009b\u202ey"\r\n}';
  for (const isTerminal of [true, false]) {
    const line = jsonLine(text, { isTerminal });
    expect(line).not.toMatch(/[\r\n]/);
    expect(JSON.parse(line)).toEqual(JSON.parse(text));
  }
  expect(jsonLine(text, { isTerminal: true })).toMatch(/^[ -~]*$/);
});

test("cutting never leaves half a character", () => {
  expect(cut("short", 10)).toBe("short");
  expect(cut("abcdef", 4)).toBe("abc…");
  expect(cut("ab👍cd", 4)).toBe("ab…");
});
