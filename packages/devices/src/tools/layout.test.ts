import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Field, faultOf, faultOfValues, schemaOf } from "./field.ts";
import { decodeLayout, encodeLayout } from "./layout.ts";

const hex = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString("hex");
const bytes = (text: string) => new Uint8Array(Buffer.from(text, "hex"));

const nothing = new Uint8Array();

const weather: Field[] = [
  { name: "celsius", type: "i16", scale: 0.1 },
  { name: "pressure", type: "u16", littleEndian: true, offset: 800 },
  { name: "rain", type: "bool" },
  { name: "place", type: "text", length: 4 },
  { name: "wind", type: "f32" },
];
const sunny = { celsius: -5.5, pressure: 1_013, rain: false, place: "Ülm", wind: 1.5 };

describe("[AX-B-7] struct", () => {
  test("fields in order, each as it is configured", () => {
    expect(hex(encodeLayout("struct", weather, sunny))).toBe("ffc9d50000c39c6c6d3fc00000");
    expect(decodeLayout("struct", weather, bytes("ffc9d50000c39c6c6d3fc00000"))).toEqual(sunny);
  });

  test.each([
    ["too short", "ffc9d50000c39c6c6d3fc000"],
    ["too long", "ffc9d50000c39c6c6d3fc0000000"],
    ["a boolean that is none", "ffc9d50002c39c6c6d3fc00000"],
    ["text that is not UTF-8", "ffc9d50000c3286c6d3fc00000"],
  ])("%s is no result", (_name, text) => {
    expect(decodeLayout("struct", weather, bytes(text))).toBeTypeOf("string");
  });

  test("what fits is read back as it was", () => {
    const fields: Field[] = (["u8", "i8", "u16", "i16", "u32", "i32"] as const).map((type) => ({
      name: type,
      type,
    }));
    const values = fc.record({
      u8: fc.nat(0xff),
      i8: fc.integer({ min: -0x80, max: 0x7f }),
      u16: fc.nat(0xffff),
      i16: fc.integer({ min: -0x8000, max: 0x7fff }),
      u32: fc.nat(0xffff_ffff),
      i32: fc.integer(),
    });
    fc.assert(
      fc.property(values, fc.boolean(), (one, littleEndian) => {
        const described = fields.map((field) => ({ ...field, littleEndian }));
        expect(faultOfValues(described, one)).toBeUndefined();
        expect(decodeLayout("struct", described, encodeLayout("struct", described, one) ?? nothing)).toEqual(
          one,
        );
      }),
    );
  });
});

describe("[AX-B-7] tlv", () => {
  const fields: Field[] = [
    { name: "speed", type: "u16", tag: 9 },
    { name: "label", type: "text", tag: 2 },
  ];

  test("entries in ascending order of tag; unknown ones are skipped", () => {
    const values = { speed: 258, label: "go" };
    expect(hex(encodeLayout("tlv", fields, values))).toBe("0202676f09020102");
    expect(decodeLayout("tlv", fields, bytes("0202676f0503aabbcc09020102"))).toEqual(values);
  });

  test.each([
    ["an entry twice", "0202676f0202676f09020102"],
    ["a length that does not fit", "0202676f0903010203"],
    ["an entry cut off", "0202676f090201"],
    ["a tag alone", "0202676f09"],
  ])("%s is no result", (_name, text) => {
    expect(decodeLayout("tlv", fields, bytes(text))).toBeTypeOf("string");
  });

  test("an entry that is missing is found when the values are checked", () => {
    const values = decodeLayout("tlv", fields, bytes("0202676f"));
    expect(faultOfValues(fields, values)).toBe("speed is missing");
  });
});

test("[AX-B-7] every text without a zero is read back as it was, and a TLV entry is never cut short", () => {
  const fields: Field[] = [{ name: "label", type: "text", tag: 1 }];
  for (const label of ["\ufeffa", "", "ü".repeat(127)]) {
    expect(decodeLayout("tlv", fields, encodeLayout("tlv", fields, { label }) ?? nothing)).toEqual({ label });
  }
  expect(encodeLayout("tlv", fields, { label: "x".repeat(256) })).toBeUndefined();
});

test("[AX-B-7] raw is base64 of all bytes", () => {
  const fields: Field[] = [{ name: "data", type: "bytes" }];
  expect(hex(encodeLayout("raw", fields, { data: "AQID" }))).toBe("010203");
  expect(decodeLayout("raw", fields, bytes("010203"))).toEqual({ data: "AQID" });
  expect(decodeLayout("raw", [], bytes("01"))).toBeTypeOf("string");
});

test("[AX-8.2-2] a value that does not fit is named, with its bounds", () => {
  const percent: Field = { name: "percent", type: "u8", maximum: 100 };
  expect(faultOf(percent, 100)).toBeUndefined();
  expect(faultOf(percent, 101)).toBe("percent is not between 0 and 100");
  expect(faultOf(percent, 1.5)).toBe("percent is not a whole number");
  for (const value of ["1", null, true, [1], Number.NaN, Infinity]) {
    expect(faultOf(percent, value)).toBe("percent is not a number");
  }
  expect(faultOf({ name: "label", type: "text", length: 3 }, "Ülm")).toBe("label has more than 3 bytes");
  expect(faultOf({ name: "label", type: "text" }, "\ud800")).toBe("label is not well-formed text");
  expect(faultOf({ name: "data", type: "bytes" }, "AQI")).toBe("data is not base64");
  expect(faultOfValues([percent], { percent: 1, "x-mcpax-route": [] })).toBe('"x-mcpax-route" is not known');
  expect(faultOfValues([percent], JSON.parse('{"__proto__": {"percent": 1}}'))).toBe(
    '"__proto__" is not known',
  );
});

test("the schema says what is checked", () => {
  expect(schemaOf([{ name: "celsius", type: "i16", scale: 0.1, description: "outside" }])).toEqual({
    type: "object",
    properties: {
      celsius: { type: "number", minimum: -3276.8, maximum: 3276.7000000000003, description: "outside" },
    },
    required: ["celsius"],
    additionalProperties: false,
  });
});
