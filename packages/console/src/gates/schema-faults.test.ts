import { parseExact } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { schemaFaults } from "./schema-faults.ts";

const schema = {
  type: "object",
  properties: {
    to: { type: "string", minLength: 1 },
    speed: { type: "number", minimum: 0, maximum: 1 },
    size: { enum: ["small", "large"] },
    times: { type: "integer" },
    parts: { type: "array", items: { $ref: "#/$defs/part" }, maxItems: 2 },
    either: { anyOf: [{ type: "string" }, { type: "number" }] },
  },
  required: ["to"],
  $defs: { part: { type: "object", properties: { name: { type: "string" } }, required: ["name"] } },
};
const faults = (text: string, before = {}) =>
  schemaFaults(schema, parseExact(text) as Record<string, unknown>, before).map(
    ({ path, text: said }) => `${path} ${said}`,
  );

test("what fits is not refused", () => {
  expect(
    faults(
      '{"to":"bench","speed":0.5,"size":"small","times":9007199254740993,"parts":[{"name":"a"}],"either":1}',
    ),
  ).toEqual([]);
});

test("a wrong type, a slip in a name and a value out of bounds are said in words", () => {
  expect(faults('{"to":7,"speeed":0.5}')).toEqual([
    "to must be text, not the number 7",
    "speeed is not an argument of this tool; did you mean speed?",
  ]);
  expect(faults("{}")).toEqual(["to is required"]);
  expect(faults('{"to":"","speed":2,"size":"huge","times":1.5,"either":[]}')).toEqual([
    "to must have at least 1 characters",
    "speed must be at most 1",
    'size must be one of "small", "large"',
    "times must be a whole number, not the number 1.5",
    "either must have one of the 2 forms that the tool allows",
  ]);
  expect(faults('{"to":"x","parts":[{"name":1},{},{"name":"c"}]}')).toEqual([
    "parts must have at most 2 entries",
    "parts/0/name must be text, not the number 1",
    "parts/1/name is required",
  ]);
});

test("names that came with the proposal are not called unknown, nor where the schema lets others come", () => {
  expect(faults('{"to":"x","extra":1}', { extra: 1 })).toEqual([]);
  expect(schemaFaults({ type: "object", properties: {}, additionalProperties: true }, { any: 1 })).toEqual(
    [],
  );
  expect(schemaFaults({ type: "object" }, { any: 1 })).toEqual([]);
  expect(schemaFaults(undefined, { any: 1 })).toEqual([]);
});

test("a hostile schema ends: circles, depth, breadth, nonsense", () => {
  const circle = { $ref: "#" };
  expect(schemaFaults(circle, { a: 1 })).toEqual([]);
  const deep = {
    anyOf: Array.from({ length: 200 }, () => ({ $ref: "#" })),
    properties: { a: { $ref: "#" } },
  };
  const began = performance.now();
  schemaFaults(deep, { a: { a: { a: {} } } });
  schemaFaults({ allOf: [deep, deep], type: 7, enum: "x", required: [1, {}] }, { a: 1 });
  const bomb = { allOf: Array.from({ length: 200 }, () => ({ $ref: "#" })) };
  schemaFaults(bomb, {});
  expect(performance.now() - began).toBeLessThan(1_000);
});
