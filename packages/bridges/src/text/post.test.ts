import { expect, test } from "vitest";
import { charsOf, cut, fit, type Post, partsOf, shown } from "./post.ts";

const post = (text: string): Post => ({ parts: [{ kind: "text", text }], buttons: [] });

test("what hides is written out, line by line", () => {
  expect(shown("a\u202eb\r\n\u200bc\u001b[31m")).toBe("a\\u202eb\n\\u200bc\\u001b[31m");
});

test("a post that fits stays as it is; a longer one is cut and says where the rest is", () => {
  expect(fit(post("short"), 100, "https://x")).toEqual(post("short"));
  const long = fit(post("x".repeat(500)), 200, "https://x");
  expect(charsOf(long)).toBeLessThanOrEqual(200);
  expect(long.parts.at(-1)?.text).toBe("… cut here: 501 characters. Read all of it at https://x");
  expect(fit(post("x"), 200, undefined, 400).parts.at(-1)?.text).toBe("… cut here: 402 characters");
});

test("no character is cut in two", () => {
  expect(cut("ab😀", 3)).toBe("ab");
  expect(cut("ab😀", 4)).toBe("ab😀");
});

test("fences become code, and nothing else does", () => {
  expect(partsOf("look:\n```js\nlet a\n```\nthere")).toEqual([
    { kind: "text", text: "look:" },
    { kind: "code", text: "let a" },
    { kind: "text", text: "there" },
  ]);
  expect(partsOf("a ``` b ``` c")).toEqual([{ kind: "text", text: "a ``` b ``` c" }]);
});
