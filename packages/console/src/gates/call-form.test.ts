import { expect, test } from "vitest";
import { argumentsOf, fieldsOf, fieldText, readEdited } from "./call-form.ts";

const fields = fieldsOf({
  type: "object",
  properties: {
    name: { type: "string", description: "whose" },
    count: { type: "integer" },
    size: { enum: ["small", "large"] },
    isHot: { type: "boolean", default: true },
    more: { type: "object" },
  },
  required: ["name", "count"],
});

test("each argument has a field of its type", () => {
  expect(fields.map(({ name, type, isRequired }) => [name, type, isRequired])).toEqual([
    ["name", "text", true],
    ["count", "number", true],
    ["size", "choice", false],
    ["isHot", "boolean", false],
    ["more", "json", false],
  ]);
});

test("arguments are what was filled in, exactly; what is empty is left out", () => {
  const typed = { name: "", count: "9007199254740993", more: '{"a":[1.0]}' };
  const { args, faults } = argumentsOf(fields, typed);
  expect(faults).toEqual({});
  expect(JSON.stringify(args)).toBe('{"name":"","count":9007199254740993,"isHot":true,"more":{"a":[1.0]}}');
});

test("what is wrong is told beside its field", () => {
  expect(argumentsOf(fields, { count: "many", more: "{" }).faults).toEqual({
    name: "is required",
    count: "must be a number",
    more: "must be JSON",
  });
});

test("what is edited keeps what has no field, takes no default in, and loses what was emptied", () => {
  const base = { name: "a", size: "small", odd: [1] };
  const { args, faults } = argumentsOf(fields, { size: "", count: "3" }, base);
  expect([args, faults]).toEqual([{ name: "a", odd: [1], count: 3 }, {}]);
  expect(fields.map((field) => fieldText(field, { count: "3" }, base))).toEqual(["a", "3", "small", "", ""]);
  expect(fields.map((field) => fieldText(field, {}))).toEqual(["", "", "", "true", ""]);
});

test("a schema that is none makes no form", () => {
  for (const schema of [undefined, null, 7, "x", [], {}, { properties: [] }])
    expect(fieldsOf(schema)).toEqual([]);
  expect(fieldsOf({ properties: { odd: 7 } })).toMatchObject([{ name: "odd", type: "json" }]);
});

test("edited arguments are an object, or it is said why not", () => {
  expect(readEdited('{"a":1}')).toEqual({ value: { a: 1 } });
  expect(readEdited("[1]")).toMatchObject({ fault: "The arguments must be an object" });
  expect(readEdited("{")).toMatchObject({ fault: expect.stringContaining("This is not JSON") });
});
