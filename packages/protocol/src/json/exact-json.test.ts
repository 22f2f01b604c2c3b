import fc from "fast-check";
import { expect, test } from "vitest";
import { numberOf, parseExact } from "./exact-json.ts";

test.each([
  "9007199254740993",
  "12345678901234567890",
  "1.0",
  "1e400",
  "1E5",
  "-0",
  "0.10",
  "1.00000000000000000001",
  "0.1",
  "0.123456789012345678",
  "100000000000000000000000",
  "999999999.9999999",
  "98765432.12345671",
])("%s is written as it was read", (number) => {
  const text = `{"a":[${number},{"b":${number}}],"c":"${number}"}`;
  expect(JSON.stringify(parseExact(text))).toBe(text);
});

test("what JavaScript writes is what it reads, for any value", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      expect(JSON.stringify(parseExact(text))).toBe(text);
    }),
  );
});

test("any decimal number keeps its text, deep inside too", () => {
  const digits = (min: number) =>
    fc.string({ unit: fc.constantFrom(..."0123456789"), minLength: min, maxLength: 24 });
  const number = fc
    .tuple(
      fc.constantFrom("", "-"),
      digits(0),
      fc.option(digits(1)),
      fc.option(fc.integer({ min: -400, max: 400 })),
    )
    .map(([sign, whole, part, exponent]) => {
      const head = whole.replace(/^0+/, "") || "0";
      return `${sign}${head}${part === null ? "" : `.${part}`}${exponent === null ? "" : `e${exponent}`}`;
    });
  fc.assert(
    fc.property(number, (text) => {
      expect(JSON.stringify(parseExact(`[[${text}]]`))).toBe(`[[${text}]]`);
    }),
  );
});

test("a number kept as text can still be counted with", () => {
  expect(numberOf(parseExact("5.0"))).toBe(5);
  expect(numberOf(7)).toBe(7);
  expect(numberOf("7")).toBeUndefined();
  expect(numberOf({ rawJSON: "7" })).toBeUndefined();
});

test("what is not JSON throws as JSON.parse does, also on the exact way", () => {
  expect(() => parseExact("[1.0,]")).toThrow(SyntaxError);
  expect(() => parseExact("")).toThrow(SyntaxError);
});

test("a key named __proto__ is a key", () => {
  const value = parseExact('{"__proto__":{"x":1.0}}') as object;
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  expect(JSON.stringify(value)).toBe('{"__proto__":{"x":1.0}}');
});

/** What `parseExact` shall give, the slow way: a reviver that sees the text of each number. */
function slowly(text: string): unknown {
  const { parse, rawJSON } = JSON as unknown as {
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown;
    rawJSON(text: string): object;
  };
  return parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && String(value) !== source ? rawJSON(source) : value,
  );
}

const outcomeOf = (read: () => unknown) => {
  try {
    return JSON.stringify(read());
  } catch (error) {
    return error instanceof SyntaxError ? "no JSON" : error;
  }
};

test("texts that are nearly JSON are read, or refused, as a reviver would", () => {
  const token = fc.constantFrom(
    ..."{}[]:, ",
    ...[
      '"a"',
      '"1.0"',
      '"\\""',
      "1",
      "1.0",
      "-0",
      "01",
      "1.",
      "-",
      "1e5",
      "1E+400",
      "9007199254740993",
      "--1",
    ],
    ...["true", "null", "1.0.0", '"__proto__"'],
  );
  fc.assert(
    fc.property(fc.array(token, { maxLength: 12 }), (tokens) => {
      const text = tokens.join("");
      expect(outcomeOf(() => parseExact(text))).toBe(outcomeOf(() => slowly(text)));
    }),
    { numRuns: 5_000 },
  );
});

test.each(['{"__proto__":1.0}', '{"__proto__":{"a":1.0},"b":[{"__proto__":[-0]}]}', '{"a":1.0,"a":2.0}'])(
  "%s keeps its keys as its own",
  (text) => {
    expect(JSON.stringify(parseExact(text))).toBe(JSON.stringify(slowly(text)));
    expect(Object.getPrototypeOf(parseExact(text))).toBe(Object.prototype);
  },
);

test.each(["{1.0:2}", "{1.0 :2}", '{"a":01.0}', "[1.0", "[1.0}", "1.0 1.0"])("%s is no JSON", (text) => {
  expect(() => parseExact(text)).toThrow(SyntaxError);
});
