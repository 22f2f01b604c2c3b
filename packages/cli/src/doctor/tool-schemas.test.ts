import { expect, test } from "vitest";
import { judgeSchemas } from "./tool-schemas.ts";

const tool = (name: string, inputSchema: object, more = {}) => ({
  name,
  item: { name, inputSchema, ...more },
});
const plain = tool("s.plain", {
  type: "object",
  properties: { $ref: { type: "string" }, a: { anyOf: [{ type: "string" }, { type: "number" }] } },
});

test("schemas that every client takes are no finding, whatever their properties are called", () => {
  expect(judgeSchemas([plain])).toEqual([]);
});

test.each([
  ["$ref", { type: "object", properties: { a: { $ref: "#/$defs/b" } } }, /Gemini CLI refuses.*: s\.odd$/],
  ["$defs", { type: "object", $defs: { b: {} } }, /Gemini CLI refuses.*: s\.odd$/],
  ["a union at the root", { anyOf: [{ type: "object" }] }, /at the root: s\.odd$/],
])("%s is named, with the tool that has it and what to do", (_, schema, text) => {
  const [finding, ...others] = judgeSchemas([plain, tool("s.odd", schema)]);
  expect(others).toEqual([]);
  expect(finding).toMatchObject({
    state: "warning",
    text: expect.stringMatching(text),
    fix: expect.any(String),
  });
});

test("what is listed at great length is named", () => {
  const long = tool("s.long", { type: "object" }, { description: "x".repeat(9_000) });
  expect(judgeSchemas([plain, long])[0]?.text).toMatch(/8000 characters.*: s\.long$/);
});

test("a schema that is deeper than any real one is looked at no further", () => {
  let schema: object = { $ref: "#" };
  for (let i = 0; i < 100; i += 1) schema = { a: schema };
  expect(judgeSchemas([tool("s.deep", schema)])).toEqual([]);
});
