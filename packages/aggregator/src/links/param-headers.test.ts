import { parseExact } from "@mcpx/protocol";
import { describe, expect, test } from "vitest";
import { declaredHeaders, paramHeaderFault, paramHeaders } from "./param-headers.ts";

const declared = (type: unknown, header: unknown) => ({ type, "x-mcp-header": header });
const schemaOf = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });

describe("arguments a tool wants as headers", () => {
  const schema = schemaOf({
    region: declared("string", "Region"),
    priority: declared("integer", "Priority"),
    verbose: declared("boolean", "Verbose"),
    query: { type: "string" },
    where: schemaOf({ zone: declared("string", "Zone") }),
  });

  test("are repeated, at any depth, and no others", () => {
    const args = { region: "us-west1", priority: 42, verbose: false, query: "x", where: { zone: "b" } };
    expect(paramHeaders(schema, args)).toEqual({
      "Mcp-Param-Region": "us-west1",
      "Mcp-Param-Priority": "42",
      "Mcp-Param-Verbose": "false",
      "Mcp-Param-Zone": "b",
    });
  });

  test("have names that can be asked for", () => {
    expect(declaredHeaders(schema)).toEqual(["Region", "Priority", "Verbose", "Zone"]);
    expect(declaredHeaders(schemaOf({ a: declared("number", "A") }))).toEqual([]);
  });

  test("a number read exactly is told by its value", () => {
    expect(paramHeaders(schema, parseExact('{"priority": 42.0}'))).toEqual({ "Mcp-Param-Priority": "42" });
    expect(paramHeaders(schema, parseExact('{"priority": 9007199254740993}'))).toEqual({});
  });

  test("are left out where they are null, absent, or not to be told exactly", () => {
    expect(paramHeaders(schema, { region: null, priority: 2 ** 60, verbose: {} })).toEqual({});
    expect(paramHeaders(schema, undefined)).toEqual({});
    expect(paramHeaders(schemaOf({ constructor: declared("string", "C") }), {})).toEqual({});
  });

  test.each([
    ["us west 1", "us west 1"],
    ["", "=?base64??="],
    [" padded ", "=?base64?IHBhZGRlZCA=?="],
    ["a\r\nX: b", "=?base64?YQ0KWDogYg==?="],
    ["\tindented", "=?base64?CWluZGVudGVk?="],
    ["世", "=?base64?5LiW?="],
    ["=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="],
  ])("%j travels as %j", (value, header) => {
    expect(paramHeaders(schema, { region: value })).toEqual({ "Mcp-Param-Region": header });
  });

  test("a schema without any is in order and has none", () => {
    for (const none of [{ type: "object" }, undefined, null, 7, { properties: [] }]) {
      expect(paramHeaderFault(none)).toBeUndefined();
      expect(paramHeaders(none, { a: 1 })).toEqual({});
    }
  });

  test("an argument that is itself called x-mcp-header is nothing special", () => {
    expect(paramHeaderFault(schemaOf({ "x-mcp-header": { type: "string" } }))).toBeUndefined();
  });

  test.each([
    ["an empty name", schemaOf({ a: declared("string", "") })],
    ["a space", schemaOf({ a: declared("string", "My Region") })],
    ["a colon", schemaOf({ a: declared("string", "Region:Primary") })],
    ["a line break", schemaOf({ a: declared("string", "Region\n") })],
    ["other letters", schemaOf({ a: declared("string", "Région") })],
    ["a name that is no text", schemaOf({ a: declared("string", 1) })],
    ["an object", schemaOf({ a: declared("object", "A") })],
    ["an array", schemaOf({ a: declared("array", "A") })],
    ["null", schemaOf({ a: declared("null", "A") })],
    ["a number", schemaOf({ a: declared("number", "A") })],
    ["several types", schemaOf({ a: declared(["string"], "A") })],
    ["no type", schemaOf({ a: declared(undefined, "A") })],
    ["the same name twice", schemaOf({ a: declared("string", "A"), b: declared("string", "a") })],
    ["the whole", declared("string", "A")],
    ["items", schemaOf({ a: { type: "array", items: declared("string", "A") } })],
    ["a branch", schemaOf({}, { anyOf: [schemaOf({ a: declared("string", "A") })] })],
    ["a definition", schemaOf({}, { $defs: { a: declared("string", "A") } })],
    ["a pattern", schemaOf({}, { patternProperties: { "^a": declared("string", "A") } })],
  ])("a declaration with %s makes the tool one to leave out", (_, schema) => {
    expect(paramHeaderFault(schema)).toEqual(expect.any(String));
    expect(paramHeaders(schema, { a: "x" })).toEqual({});
  });

  test("a schema nested without end is one to leave out", () => {
    let schema: object = { type: "string" };
    for (let depth = 0; depth < 10_000; depth += 1) schema = schemaOf({ a: schema });
    expect(paramHeaderFault(schema)).toEqual(expect.any(String));
  });
});
