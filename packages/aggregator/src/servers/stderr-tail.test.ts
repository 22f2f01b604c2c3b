import { expect, test } from "vitest";
import { lastStderrLines, StderrTail } from "./stderr-tail.ts";

function saying(...lines: string[]): StderrTail {
  const tail = new StderrTail();
  for (const line of lines) tail.push(line, 1);
  return tail;
}

test("no more than the last lines are kept, however many and however long they are", () => {
  const tail = saying(...Array.from({ length: 1_000 }, (_, n) => `line ${n}`));
  expect(tail.list()).toHaveLength(200);
  expect(tail.list().at(-1)?.line).toBe("line 999");
  for (let n = 0; n < 1_000; n += 1) tail.push("x".repeat(100_000), n);
  const kept = tail.list();
  expect(kept.reduce((sum, { line }) => sum + line.length, 0)).toBeLessThanOrEqual(65_536);
  expect(kept.at(-1)?.at).toBe(999);
});

test.each([
  ["nothing was said", [], ""],
  ["an ordinary end", ["tiny is up", "bye"], "tiny is up | bye"],
  [
    "a module of Node that is not there",
    [
      "node:internal/modules/cjs/loader:1386",
      "  throw err;",
      "  ^",
      "",
      "Error: Cannot find module 'left-pad'",
      "Require stack:",
      "- /srv/notes/index.js",
      "    at Function._resolveFilename (node:internal/modules/cjs/loader:1383:15)",
      "  code: 'MODULE_NOT_FOUND',",
      "}",
      "",
      "Node.js v24.21.0",
    ],
    "Error: Cannot find module 'left-pad' | Require stack: | - /srv/notes/index.js",
  ],
  [
    "a traceback",
    [
      "Traceback (most recent call last):",
      '  File "a.py", line 1',
      "ModuleNotFoundError: No module named 'mcp'",
    ],
    "ModuleNotFoundError: No module named 'mcp'",
  ],
  ["colours", ["\u001b[31mERROR\u001b[0m no\u0007 key"], "ERROR no  key"],
  ["the same twice, as it is started twice", ["no key", "no key"], "no key"],
  ["many lines", ["1a", "2b", "3c", "4d", "5e", "6f"], "2b | 3c | 4d | 5e | 6f"],
])("of %s, what tells most is repeated", (_, lines, words) => {
  expect(lastStderrLines(saying(...lines))).toBe(words);
});

test("what is repeated is short", () => {
  expect(lastStderrLines(saying("x".repeat(2_000)))).toHaveLength(400);
});
