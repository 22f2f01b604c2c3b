import type { JsonObject } from "@mcpx/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { pinnedText } from "./pinned-text.ts";
import { toolDiff } from "./tool-diff.ts";

test("what is the same is not told", () => {
  const tool = { description: "a", inputSchema: { properties: { x: { type: "string" } }, required: ["x"] } };
  expect(toolDiff(tool, structuredClone(tool))).toEqual([]);
});

test("added, removed and changed values, each with the way to it", () => {
  const was = {
    description: "Reads a file",
    annotations: { readOnlyHint: true },
    inputSchema: { properties: { path: { type: "string" } }, required: ["path"] },
  };
  const now = {
    description: "Reads a file",
    inputSchema: {
      properties: { path: { type: "string" }, "send to": { type: "string", default: {} } },
      required: ["path", "send to"],
    },
  };
  expect(toolDiff(was, now)).toEqual([
    "- annotations.readOnlyHint: true",
    '+ inputSchema.properties."send to".default: {}',
    '+ inputSchema.properties."send to".type: string',
    '- inputSchema.required: ["path"]',
    '+ inputSchema.required: ["path","send to"]',
  ]);
});

test("of a text with many lines only those that differ", () => {
  const was = { description: "one\ntwo\nthree" };
  expect(toolDiff(was, { description: "one\nTWO\nmore\nthree" })).toEqual([
    "- description: two",
    "+ description: TWO",
    "+ description: more",
  ]);
});

test("a change far behind in a long line is seen", () => {
  const text = "x".repeat(10_000);
  const [gone, come] = toolDiff(
    { description: `${text}safe` },
    { description: `${text}EVIL${"y".repeat(999)}` },
  );
  expect(gone).toMatch(/^- description: …x{60}safe$/);
  expect(come).toMatch(/^\+ description: …x{60}EVILy+…$/);
});

test.each([
  ["escape sequences", "a\u001b[2Jb", "a\\u001b[2Jb"],
  ["direction", "a\u202eb", "a\\u202eb"],
  ["nothing at all", "a\u200b\u2060b", "a\\u200b\\u2060b"],
  ["tags", "a\u{e0041}b", "a\\u{e0041}b"],
  ["variation selectors", "a\ufe0fb\u{e0101}", "a\\ufe0fb\\u{e0101}"],
  ["fillers", "a\u3164b", "a\\u3164b"],
  ["other spaces", "a\u00a0b\tc", "a\\u00a0b\\u0009c"],
  ["half a character", "a\ud800b", "a\\ud800b"],
  ["a line end that is none", "a\rb\u2028c", "a\\u000db\\u2028c"],
])("%s are written out", (_, text, shown) => {
  expect(toolDiff({}, { description: text })).toEqual([`+ description: ${shown}`]);
  expect(toolDiff({}, { [text]: 1 })[0]).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

test("a flood of changes ends", () => {
  const now = {
    inputSchema: { properties: Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [i, 1])) },
  };
  const lines = toolDiff({}, now);
  expect(lines).toHaveLength(201);
  expect(lines.at(-1)).toBe("… and 4800 more lines");
  const deep = JSON.parse(`${'{"a":'.repeat(100)}1${"}".repeat(100)}`);
  expect(toolDiff({}, deep)).toHaveLength(1);
});

test("a key __proto__ is one like any other", () => {
  expect(toolDiff({}, JSON.parse('{"inputSchema": {"__proto__": {"x": 1}}}'))).toEqual([
    "+ inputSchema.__proto__.x: 1",
  ]);
});

test("a text and a value that look the same are told apart", () => {
  expect(toolDiff({ inputSchema: { default: 1 } }, { inputSchema: { default: "1" } })).toEqual([
    "- inputSchema.default: 1",
    '+ inputSchema.default: "1"',
  ]);
});

test("there is a line wherever the pin has changed, and none where it has not", () => {
  const schema = fc.oneof(
    fc.jsonValue(),
    fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })),
    fc.constantFrom<unknown>({}, [], "", 0, "0", null, "null", [[]], { a: {} }, { a: [] }),
  );
  fc.assert(
    fc.property(schema, schema, (one, other) => {
      const [was, now] = [one, other].map((inputSchema) => JSON.parse(pinnedText({ inputSchema }) as string));
      const isSame = pinnedText({ inputSchema: one }) === pinnedText({ inputSchema: other });
      expect(toolDiff(was as JsonObject, now as JsonObject).length === 0).toBe(isSame);
    }),
    { numRuns: 1_000 },
  );
});

test("keys that only differ far behind are two", () => {
  const long = "k".repeat(1_000);
  expect(toolDiff({ [`${long}1`]: 1 }, { [`${long}2`]: 1 })).toHaveLength(2);
});
