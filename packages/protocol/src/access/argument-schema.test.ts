import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { refusalOf, strangenessOf } from "./argument-schema.ts";

const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });

describe("[AC-7-4] arguments by a small part of JSON Schema", () => {
  test.each([
    [object({ degrees: { type: "integer", maximum: 200 } }), { degrees: 200 }, { degrees: 201 }],
    [object({ degrees: { maximum: 200 } }), { degrees: 1 }, { degrees: "1" }],
    [object({ degrees: { minimum: 5 } }), { degrees: 5 }, { degrees: 4.9 }],
    [object({ n: { exclusiveMinimum: 0, exclusiveMaximum: 1 } }), { n: 0.5 }, { n: 1 }],
    [object({ n: { exclusiveMinimum: 0 } }), { n: 0.1 }, { n: 0 }],
    [object({ path: { const: "/tmp/a" } }), { path: "/tmp/a" }, { path: "/tmp/a/../b" }],
    [object({ path: { const: ["a"] } }), { path: ["a"] }, { path: "a" }],
    [object({ to: { enum: ["staging", "test"] } }), { to: "test" }, { to: "production" }],
    [object({ to: { type: "string" } }, { required: ["to"] }), { to: "x" }, {}],
    [object({ to: true }, { additionalProperties: false }), { to: "x" }, { to: "x", force: true }],
    [object({ to: true }, { additionalProperties: { type: "null" } }), { a: null }, { a: 1 }],
    [object({ text: { minLength: 1, maxLength: 2 } }), { text: "😀😀" }, { text: "abc" }],
    [object({ list: { items: { type: "boolean" }, maxItems: 2 } }), { list: [true] }, { list: [1] }],
    [object({ list: { minItems: 1 } }), { list: [1] }, { list: [] }],
    [{ type: ["object", "null"] }, {}, []],
    [{ allOf: [object({ a: { type: "number" } }), { required: ["a"] }] }, { a: 1 }, {}],
    [{ anyOf: [{ required: ["a"] }, { required: ["b"] }] }, { b: 1 }, { c: 1 }],
    [object({ no: false }), {}, { no: 1 }],
  ])("%j takes %j and not %j", (schema, good, bad) => {
    expect(refusalOf(schema, good)).toBeUndefined();
    expect(refusalOf(schema, bad)).toEqual(expect.any(String));
  });

  test.each([
    { pattern: "^(a+)+$" },
    { $ref: "#/definitions/x" },
    { format: "email" },
    { not: {} },
    { properties: { a: { pattern: "x" } } },
    { items: { if: true } },
    { maximum: "200" },
    { type: "number?" },
    { type: "constructor" },
    { required: "a" },
    { anyOf: [] },
    { properties: [] },
    [],
    null,
    "x",
  ])("%j is not understood, so everything is refused", (schema) => {
    expect(strangenessOf(schema)).toEqual(expect.any(String));
    expect(refusalOf(schema, { a: "x" })).toMatch(/not understood/);
  });

  test("keys of the prototype are not keys of the arguments", () => {
    expect(refusalOf({ required: ["constructor"] }, {})).toEqual(expect.any(String));
    const schema = object({}, { additionalProperties: false });
    expect(refusalOf(schema, JSON.parse('{"__proto__": {"a": 1}}'))).toEqual(expect.any(String));
    expect(strangenessOf({ toString: 1 })).toEqual(expect.any(String));
  });

  test("a schema too deep is refused", () => {
    let schema: unknown = { type: "string" };
    for (let n = 0; n < 20; n += 1) schema = { allOf: [schema] };
    expect(refusalOf(schema, "x")).toMatch(/not understood/);
  });

  test("the value is written out once, however many entries and words it is compared with", () => {
    let reads = 0;
    const value = {
      get a() {
        reads += 1;
        return 1;
      },
    };
    const others = Array.from({ length: 500 }, (_, n) => ({ a: n + 2 }));
    expect(
      refusalOf({ anyOf: [{ enum: others }, { const: 7 }, { enum: [{ a: 1 }] }] }, value),
    ).toBeUndefined();
    expect(reads).toBe(1);
  });

  test("judging takes a bounded number of steps, and what takes more is refused", () => {
    const schema = { items: { anyOf: [...Array.from({ length: 100 }, (_, n) => ({ const: n })), true] } };
    const list = (length: number) => Array.from({ length }, () => "x");
    expect(refusalOf(schema, list(100))).toBeUndefined();
    expect(refusalOf(schema, list(10_000))).toMatch(/takes too long/);
    expect(refusalOf({ items: { type: "string" } }, list(10_000))).toBeUndefined();
    const long = "x".repeat(250_000);
    expect(refusalOf({ const: long }, long)).toBeUndefined();
    const often = { allOf: Array.from({ length: 100 }, () => ({ minLength: 1 })) };
    expect(refusalOf(often, "x".repeat(1_000))).toBeUndefined();
    expect(refusalOf(often, long)).toMatch(/takes too long/);
  });

  test("a schema has a bounded number of words and entries", () => {
    const listed = (length: number) => ({ enum: Array.from({ length }, (_, n) => n) });
    expect(refusalOf(listed(1_999), 7)).toBeUndefined();
    expect(refusalOf(listed(2_000), 7)).toMatch(/more than 2000 words and entries/);
    const spread = { allOf: Array.from({ length: 30 }, () => listed(100)) };
    expect(refusalOf(spread, 7)).toMatch(/more than 2000 words and entries/);
  });

  test("whatever the schema and the value are, there is an answer; and what is not understood never passes", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (schema, value) => {
        const refusal = refusalOf(schema, value);
        if (strangenessOf(schema) !== undefined) expect(refusal).toEqual(expect.any(String));
      }),
    );
  });
});
