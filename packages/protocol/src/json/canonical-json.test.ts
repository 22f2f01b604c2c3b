import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson, digestOf } from "./canonical-json.ts";
import { parseExact } from "./exact-json.ts";

const canonicalText = (text: string) => canonicalJson(parseExact(text));
const nested = (depth: number) => parseExact("[".repeat(depth) + "]".repeat(depth));
const refused = (code: string) => expect.objectContaining({ code });

describe("the canonical text", () => {
  test("is the one of RFC 8785's own examples", () => {
    const text = String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`;
    // The RFC reads numbers as doubles; here the digits that were sent are kept.
    expect(canonicalText(text)).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.33333329,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
    expect(canonicalJson(JSON.parse(text))).toContain("[333333333.3333333,1e+30,4.5,0.002,1e-27]");
  });

  test("has keys in the order of their UTF-16 units", () => {
    const text = String.raw`{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}`;
    expect(Object.keys(JSON.parse(canonicalText(text)) as object)).toEqual(
      // "1" first, since JavaScript lists keys that are numbers before the others.
      ["1", "\r", "\u0080", "ö", "€", "😀", "\ufb33"],
    );
    expect(canonicalText(text)).toBe('{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}');
  });

  test("takes keys as they are: no prototype, no normalisation", () => {
    expect(canonicalText('{"__proto__":{"b":1,"a":2},"constructor":0}')).toBe(
      '{"__proto__":{"a":2,"b":1},"constructor":0}',
    );
    expect(canonicalJson("\u0041\u030a")).not.toBe(canonicalJson("\u00c5"));
    expect(canonicalJson(Object.assign(Object.create(null), { b: [], a: {} }))).toBe('{"a":{},"b":[]}');
  });
});

describe("numbers", () => {
  test.each([
    ["1", ["1", "1.0", "1e0", "1E0", "10e-1", "0.1e1", "1.000000000000000000000", "1e-0", "1e000"]],
    ["0", ["0", "-0", "0.0", "-0.000", "0e99999999999999999999999999", "0e-5"]],
    ["-12.5", ["-12.5", "-1.25e1", "-125e-1", "-12.50"]],
    ["100000000000000000000", ["1e20", "100000000000000000000", "1.0E+20"]],
    ["1e+21", ["1e21", "1000000000000000000000", "0.01e23"]],
    ["0.000001", ["1e-6", "0.000001", "0.0000010"]],
    ["1e-7", ["1e-7", "0.0000001", "10e-8"]],
    ["1e+400", ["1e400", "10e399", "0.1e401"]],
    ["1.5e-400", ["1.5e-400", "15e-401"]],
    ["9007199254740993", ["9007199254740993", "9007199254740993.0", "9.007199254740993e15"]],
  ])("%s is one number, however it was sent", (canonical, texts) => {
    for (const text of texts) expect(canonicalText(text), text).toBe(canonical);
  });

  test.each([
    ["9007199254740993", "9007199254740992"],
    ["0.1", "0.1000000000000000055511151231257827"],
    ["1e400", "1e401"],
    ["1", '"1"'],
    ["1", "-1"],
    ["0", "null"],
    ["[1,2]", "[12]"],
  ])("%s is not %s", (one, other) => {
    expect(canonicalText(one)).not.toBe(canonicalText(other));
  });

  test("any number JavaScript has is written as JavaScript writes it, read exactly or not", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        const text = String(number);
        expect(canonicalJson(number)).toBe(Object.is(number, -0) ? "0" : text);
        expect(canonicalText(text)).toBe(canonicalJson(number));
      }),
    );
  });

  test("two decimal numbers have one text if they are equal, and only then", () => {
    const decimal = fc.tuple(
      fc.constantFrom("", "-"),
      fc.bigInt({ min: 0n, max: 10n ** 24n }),
      fc.integer({ min: -30, max: 30 }),
    );
    /** The same value in other words: zeros moved between the digits and the exponent. */
    const spelled = fc.tuple(decimal, fc.integer({ min: 0, max: 8 }));
    const textOf = ([[sign, digits, exponent], zeros]: [[string, bigint, number], number]) =>
      `${sign}${digits}${"0".repeat(digits === 0n ? 0 : zeros)}e${exponent - zeros}`;
    const worthOf = ([[sign, digits, exponent]]: [[string, bigint, number], number]) =>
      (sign === "-" ? -1n : 1n) * digits * 10n ** BigInt(exponent + 30);
    fc.assert(
      fc.property(spelled, spelled, (a, b) => {
        expect(canonicalText(textOf(a)) === canonicalText(textOf(b))).toBe(worthOf(a) === worthOf(b));
        expect(canonicalText(textOf([a[0], b[1]]))).toBe(canonicalText(textOf(a)));
      }),
    );
  });

  test("a million digits take no time, and an exponent beyond counting is refused", () => {
    const long = `0.${"0".repeat(1_000_000)}1`;
    expect(canonicalText(long)).toBe("1e-1000001");
    expect(canonicalText("1".repeat(1_000_000))).toHaveLength(1_000_000 + ".e+999999".length);
    expect(() => canonicalText("1e9999999999999999")).toThrow(refused("bad_field"));
    expect(() => canonicalText(`1e-${"9".repeat(100_000)}`)).toThrow(refused("bad_field"));
  });
});

describe("the laws of it", () => {
  test("it is a fixed point", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(canonicalText(text)).toBe(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test("the order of keys does not matter", () => {
    const shuffled = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(shuffled);
      if (typeof value !== "object" || value === null) return value;
      const entries = Object.entries(value).map(([key, member]) => [key, shuffled(member)]);
      return Object.fromEntries(entries.reverse());
    };
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(canonicalJson(shuffled(value))).toBe(canonicalJson(value));
      }),
    );
  });

  test("different values have different texts", () => {
    // Small ones, so that equal pairs come up too.
    const value = fc.jsonValue({ maxDepth: 2 });
    const pair = fc.oneof(
      fc.tuple(value, value),
      value.map((one) => [one, structuredClone(one)] as const),
    );
    const plain = (one: unknown) => JSON.parse(JSON.stringify(one)) as unknown;
    fc.assert(
      fc.property(pair, ([a, b]) => {
        const isEqual = equals(plain(a), plain(b));
        expect(canonicalJson(a) === canonicalJson(b)).toBe(isEqual);
      }),
      { numRuns: 500 },
    );
  });
});

describe("what is no JSON is refused", () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;

  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["nothing in an object", { a: undefined }],
    ["a hole in a list", new Array(1)],
    ["NaN", Number.NaN],
    ["infinity", [Number.NEGATIVE_INFINITY]],
    ["a big integer", 1n],
    ["a function", { toJSON: () => 1 }],
    ["a symbol", Symbol("x")],
    ["a date", new Date(0)],
    ["a map", new Map([["a", 1]])],
    ["a number object", Object(1)],
    ["a lone surrogate", "\ud800"],
    ["a lone surrogate in a key", { "a\udc00": 1 }],
    ["surrogates the wrong way round", ["\ude00\ud83d"]],
  ])("%s", (_title, value) => {
    expect(() => canonicalJson(value)).toThrow(refused("bad_field"));
  });

  test("an escaped lone surrogate too", () => {
    expect(() => canonicalText(String.raw`["\ud800"]`)).toThrow(refused("bad_field"));
  });

  test("what is nested too deeply, rings included", () => {
    expect(canonicalJson(nested(128))).toBe("[".repeat(128) + "]".repeat(128));
    expect(() => canonicalJson(nested(129))).toThrow(refused("too_deep"));
    expect(() => canonicalJson(cycle)).toThrow(refused("too_deep"));
  });
});

test("[AX-11.3-2] the digest is SHA-256 over the canonical text", async () => {
  const digest = createHash("sha256").update('{"a":1,"b":"ä"}').digest("base64url");
  expect(await digestOf(parseExact('{"b":"ä","a":1.0}'))).toBe(`sha256:${digest}`);
  // Known from elsewhere: SHA-256 of two bytes, `{}`.
  expect(await digestOf({})).toBe("sha256:RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o");
  await expect(digestOf(undefined)).rejects.toThrow(refused("bad_field"));
});

function equals(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  const members = (value: object) => value as Record<string, unknown>;
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equals(members(a)[key], members(b)[key]))
  );
}
