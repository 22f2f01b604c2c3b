import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isMcpxError, type McpxError, type Reason } from "../errors.ts";
import { defaultLimits } from "../limits.ts";
import { quoteShort, scan } from "./scan.ts";

const limits = { depthMax: 32 };

function fault(text: string, bounds = limits): McpxError {
  try {
    scan(text, bounds);
  } catch (error) {
    if (isMcpxError(error)) return error;
    throw error;
  }
  throw new Error(`nothing refused ${text.slice(0, 80)}`);
}

describe("[X0-4-1] a frame holds one JSON object", () => {
  const refused: [title: string, text: string, reason: Reason][] = [
    ["nothing", "", "bad_json"],
    ["white space alone", " \t\r\n", "bad_json"],
    ["a word", "hello", "bad_json"],
    ["half an object", '{"id":"1"', "bad_json"],
    ["an unclosed string", '{"id":"1', "bad_json"],
    ["an unclosed string ending in a backslash", '{"id":"\\', "bad_json"],
    ["a closing brace alone", "}", "bad_json"],
    ["brackets that do not match", '{"id":[1}', "bad_json"],
    ["a missing comma", '{"id":"1" "kind":"chat"}', "bad_json"],
    ["a trailing comma", '{"id":"1",}', "bad_json"],
    ["a missing value", '{"id":}', "bad_json"],
    ["a key without quotes", "{id:1}", "bad_json"],
    ["single quotes", "{'id':1}", "bad_json"],
    ["a bad escape in a key", '{"\\x":1}', "bad_json"],
    ["a raw line break in a string", '{"id":"a\nb"}', "bad_json"],
    ["a comment", '{"id":1/* one */}', "bad_json"],
    ["NaN", '{"id":NaN}', "bad_json"],
    ["two objects", '{"id":"1"}{"id":"2"}', "bad_json"],
    ["two objects on two lines", '{"id":"1"}\n{"id":"2"}', "bad_json"],
    ["something behind the object", '{"id":"1"} x', "bad_json"],
    ["a byte order mark", '\ufeff{"id":"1"}', "bad_json"],
    ["a no-break space around it", '\u00a0{"id":"1"}\u00a0', "bad_json"],
    ["a line separator behind it", '{"id":"1"}\u2028', "bad_json"],
    ["a NUL behind it", '{"id":"1"}\0', "bad_json"],
    ["an array", "[]", "not_an_object"],
    ["a batch", '[{"id":"1"},{"id":"2"}]', "not_an_object"],
    ["a string", '"{}"', "not_an_object"],
    ["a number", "1", "not_an_object"],
    ["null", "null", "not_an_object"],
    ["true", "true", "not_an_object"],
    ["a key given twice", '{"id":"1","id":"1"}', "duplicate_key"],
    ["a key given twice, once escaped", '{"id":"1","\\u0069d":"1"}', "duplicate_key"],
    ["a payload given twice", '{"payload":{"a":1},"payload":{"b":1}}', "duplicate_key"],
    ["an empty key given twice", '{"":1,"":2}', "duplicate_key"],
    ["__proto__ given twice", '{"__proto__":1,"__proto__":2}', "duplicate_key"],
  ];

  test.each(refused)("%s is refused: %j is %s", (_title, text, reason) => {
    expect(fault(text).code).toBe(reason);
  });

  test.each([
    ["null", "got null"],
    ["[]", "got an array"],
    ["1", "got a number"],
    ['""', "got a string"],
    ["false", "got a boolean"],
  ])("the answer to %s says what came: %s", (text, detail) => {
    expect(fault(text).detail).toBe(detail);
  });

  test("white space of JSON around the object is not part of its text", () => {
    expect(scan(' \t\r\n{ "id" : 1 }\n\r\t ', limits).text).toBe('{ "id" : 1 }');
  });

  test("the answer to bad JSON repeats nothing of it", () => {
    expect(fault('{"secret":s3cret}').message).not.toContain("s3cret");
  });

  test("the answer to a duplicate key names it, shortened", () => {
    const key = "k".repeat(1_000);
    expect(fault(`{"${key}":1,"${key}":2}`).detail).toBe(`"${"k".repeat(40)}…" occurs twice in the envelope`);
  });
});

describe("nesting", () => {
  const nested = (depth: number, open: string, close: string) =>
    `{"payload":${open.repeat(depth - 1)}1${close.repeat(depth - 1)}}`;

  test.each([
    ["[", "]"],
    ['{"a":', "}"],
    ['{"a":[', "]}"],
  ])("the envelope's own braces count: %s", (open, close) => {
    const perRepeat = open.replaceAll(/[^[{]/g, "").length;
    const allowed = (limits.depthMax - 1) / perRepeat + 1;
    expect(() => scan(nested(Math.floor(allowed), open, close), limits)).not.toThrow();
    expect(fault(nested(Math.floor(allowed) + 1, open, close)).code).toBe("too_deep");
  });

  test("siblings do not add up, and braces inside strings do not count", () => {
    const text = `{"payload":{"a":[${"[],{},".repeat(50)}"${"[{".repeat(50)}"]}}`;
    expect(() => scan(text, { depthMax: 4 })).not.toThrow();
    expect(fault(text, { depthMax: 3 }).code).toBe("too_deep");
  });

  test("a frame of nothing but brackets is refused before it is parsed", () => {
    expect(fault("[".repeat(262_144)).code).toBe("too_deep");
  });
});

describe("what is noted", () => {
  test("the fields of the envelope and of its payload, and of nothing else", () => {
    const text =
      '{ "to" : ["a", {"x":1}], "payload": {"id": 1.0 ,"p":{"id":2},"q":[{"id":3}]}, "z":{"id":4} }';
    const { fields, payloadFields } = scan(text, limits);
    const slices = (spans: typeof fields) =>
      [...spans].map(([key, { start, end }]) => [key, text.slice(start, end)]);
    expect(slices(fields)).toEqual([
      ["to", '["a", {"x":1}]'],
      ["payload", '{"id": 1.0 ,"p":{"id":2},"q":[{"id":3}]}'],
      ["z", '{"id":4}'],
    ]);
    expect(slices(payloadFields)).toEqual([
      ["id", "1.0"],
      ["p", '{"id":2}'],
      ["q", '[{"id":3}]'],
    ]);
  });

  test.each([
    '{"payload":[{"id":1}]}',
    '{"payload":"{}"}',
    '{"payload":{}}',
    '{"pay":{"payload":{"id":1}}}',
    "{}",
  ])("%s has no payload fields", (text) => {
    expect(scan(text, limits).payloadFields.size).toBe(0);
  });

  test("a payload is a payload also under an escaped key", () => {
    expect([...scan('{"p\\u0061yload":{"\\u0069d":1}}', limits).payloadFields.keys()]).toEqual(["id"]);
  });

  test.each([
    ['{"payload":{"id":1,"id":2}}', "id"],
    ['{"payload":{"id":1,"\\u0069d":2}}', "id"],
    ['{"payload":{"a":1,"b":1,"b":2,"a":2}}', "b"],
    ['{"payload":{"a":{"id":1,"id":2}}}', undefined],
    ['{"payload":{"id":1},"other":{"id":1,"id":2}}', undefined],
  ])("a key twice at the top of the payload is noted, not refused: %s", (text, duplicate) => {
    expect(scan(text, limits).payloadDuplicate).toBe(duplicate);
  });

  test.each([
    ['{"protocol":0,"\\\\u00":0}', '{"protocol":0,"\\u0066rom":"x"}', { protocol: 0, from: "x" }],
    ['{"a":0,"\\\\":0}', '{"a":0,"\\"":1}', { a: 0, '"': 1 }],
    [
      '{"jsonrpc":0,"result":0,"\\\\u006d":0}',
      '{"payload":{"jsonrpc":0,"result":0,"\\u006dethod":"x"}}',
      { payload: { jsonrpc: 0, result: 0, method: "x" } },
    ],
  ])("[X0-9-3] after %s was read, no key of %s is taken for another", (before, text, expected) => {
    JSON.parse(before);
    expect(scan(text, limits).value).toEqual(expected);
  });

  test("__proto__ and constructor are keys like any other and change nothing", () => {
    const { value, fields, payloadFields } = scan(
      '{"__proto__":{"id":"x","polluted":1},"constructor":{"prototype":{"polluted":1}},"payload":{"__proto__":{"method":"m"}}}',
      limits,
    );
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(value.id).toBeUndefined();
    expect((value.payload as { method?: unknown }).method).toBeUndefined();
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect([...fields.keys()]).toEqual(["__proto__", "constructor", "payload"]);
    expect([...payloadFields.keys()]).toEqual(["__proto__"]);
  });
});

test.each([
  ["short", '"short"'],
  ['a"b\n', '"a\\"b\\n"'],
  ["x".repeat(40), `"${"x".repeat(40)}"`],
  ["x".repeat(41), `"${"x".repeat(40)}…"`],
  [`${"x".repeat(39)}😀`, `"${"x".repeat(39)}\\ud83d…"`],
])("a stranger's word %j is quoted as %s", (word, quoted) => {
  expect(quoteShort(word)).toBe(quoted);
});

const anyUnit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));

// Texts with white space and escapes wherever JSON allows them, made without `JSON.stringify`'s habits.
const space = fc.string({ unit: fc.constantFrom(" ", "\t", "\n", "\r"), maxLength: 3 });
const key = fc.oneof(
  fc.constantFrom("payload", "id", "", "__proto__", "constructor", 'a"b', "\\", "{", "}", "[", ":", ","),
  fc.string({ unit: anyUnit, maxLength: 6 }),
);
const stringText = fc.tuple(key, fc.infiniteStream(fc.boolean())).map(([word, escapes]) => {
  const units = Array.from({ length: word.length }, (_, i) => word.slice(i, i + 1));
  const written = units.map((unit) =>
    escapes.next().value === true
      ? `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
      : JSON.stringify(unit).slice(1, -1),
  );
  return `"${written.join("")}"`;
});
// Unescaped: below the payload's own keys `scan` reads what V8 reads (nodejs/node#63785).
const deepKeyText = fc.constantFrom(
  '"a"',
  '"a"',
  '"b"',
  '"id"',
  '"payload"',
  '"__proto__"',
  '"{"',
  '":"',
  '""',
);
const numberText = fc.constantFrom("0", "-0", "1.0", "1e400", "-1E-7", "9007199254740993", "0.10");
const { value: valueText } = fc.letrec<{ value: string; member: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    numberText,
    fc.constantFrom("true", "false", "null"),
    stringText,
    listText("[", tie("value"), "]"),
    listText("{", tie("member"), "}"),
  ),
  member: fc.tuple(deepKeyText, space, space, tie("value")).map(([k, a, b, v]) => `${k}${a}:${b}${v}`),
}));

function listText(open: string, item: fc.Arbitrary<string>, close: string): fc.Arbitrary<string> {
  const items = fc.array(
    fc.tuple(space, item, space).map((parts) => parts.join("")),
    { maxLength: 4 },
  );
  return fc.tuple(space, items).map(([blank, list]) => `${open}${list.join(",") || blank}${close}`);
}

interface ObjectText {
  text: string;
  /** The bytes of each value by its key as read. */
  values: [key: string, bytes: string][];
}

function objectText(keyText: fc.Arbitrary<string>, value: fc.Arbitrary<string>): fc.Arbitrary<ObjectText> {
  const member = fc.record({ keyText, value, spaces: fc.tuple(space, space, space, space) });
  const read = (text: string) => JSON.parse(text) as string;
  return fc.uniqueArray(member, { maxLength: 5, selector: (m) => read(m.keyText) }).map((members) => ({
    text: `{${members.map(({ keyText, value, spaces: [a, b, c, d] }) => `${a}${keyText}${b}:${c}${value}${d}`).join(",")}}`,
    values: members.map((m) => [read(m.keyText), m.value]),
  }));
}

describe("laws", () => {
  const notPayload = stringText.filter((text) => JSON.parse(text) !== "payload");
  const bytesOf = (text: string, spans: ReadonlyMap<string, { start: number; end: number }>) =>
    [...spans].map(([name, { start, end }]) => [name, text.slice(start, end)]);
  const objectOf = (values: ObjectText["values"]) =>
    Object.fromEntries(values.map(([name, bytes]) => [name, JSON.parse(bytes)]));

  test("[X0-7-3] spans are exactly the bytes of each value, whatever the spaces and escapes", () => {
    const payloadKey = fc.constantFrom('"payload"', '"p\\u0061yload"', '"\\u0070ayloa\\u0064"');
    const parts = fc.tuple(objectText(notPayload, valueText), objectText(stringText, valueText), payloadKey);
    fc.assert(
      fc.property(parts, space, fc.boolean(), ([rest, payload, name], blank, isFirst) => {
        const field = `${blank}${name}${blank}:${blank}${payload.text}${blank}`;
        const others = rest.text.slice(1, -1);
        const fields = (isFirst ? [field, others] : [others, field]).filter((part) => part !== "");
        const text = `{${fields.join(",")}}`;
        const scanned = scan(blank + text + blank, limits);
        expect(scanned.text).toBe(text);
        const expected = [...rest.values];
        expected.splice(isFirst ? 0 : expected.length, 0, ["payload", payload.text]);
        expect(bytesOf(text, scanned.fields)).toEqual(expected);
        expect(bytesOf(text, scanned.payloadFields)).toEqual(payload.values);
        // Compared as text, because `toEqual` stumbles over own keys named __proto__.
        const value = { ...objectOf(expected), payload: objectOf(payload.values) };
        expect(JSON.stringify(scanned.value)).toBe(JSON.stringify(value));
      }),
      { numRuns: 500 },
    );
  });

  test("every JSON value that is not an object is refused as such", () => {
    fc.assert(
      fc.property(valueText, (text) => {
        fc.pre(!text.startsWith("{"));
        expect(fault(text).code).toBe("not_an_object");
      }),
    );
  });

  const tokens = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    '"',
    "\\",
    '\\"',
    " ",
    "\n",
    "1",
    "null",
    '"payload"',
    '"a"',
    '"a":',
  ];
  const token = fc.constantFrom(...tokens, '{"payload":{', "\ud800", "\u0000");

  test("whatever comes, it is read as JSON.parse reads it or refused with a reason", () => {
    const soup = fc.oneof(
      fc.array(token, { maxLength: 40 }).map((t) => t.join("")),
      fc.string({ unit: anyUnit }),
    );
    fc.assert(
      fc.property(soup, (text) => {
        let read: unknown;
        try {
          read = scan(text, limits).value;
        } catch (error) {
          expect(isMcpxError(error)).toBe(true);
          return;
        }
        // With escapes V8 is no judge: see the keys taken for another above.
        if (!text.includes("\\")) expect(JSON.stringify(read)).toBe(JSON.stringify(JSON.parse(text)));
      }),
      { numRuns: 5_000 },
    );
  });

  // A bound with room for the slowest machine: linear needs milliseconds, quadratic a minute.
  const boundMs = 2_000;

  function spentMs(text: string): number {
    const before = performance.now();
    try {
      scan(text, limits);
    } catch (error) {
      expect(isMcpxError(error)).toBe(true);
    }
    return performance.now() - before;
  }

  const half = defaultLimits.envelopeBytesMax / 2;
  test.each([
    ["commas behind spaces", `{"a":${" ".repeat(half)}${",".repeat(half)}`],
    ["commas behind spaces in the payload", `{"payload":{"a":${" ".repeat(half)}${",".repeat(half)}`],
    ["arrays behind spaces", `{"a":${" ".repeat(half)}}${"[]".repeat(half / 2)}`],
    ["payloads behind spaces", `{"payload":{"a":${" ".repeat(half)}${"}{".repeat(half / 2)}`],
    ["spaces before each comma", `[${`${" ".repeat(500)},`.repeat(500)}`],
    ["escaped quotes", `{"a":"${'\\"'.repeat(half)}`],
    ["backslashes", `{"a":"${"\\".repeat(2 * half)}"`],
    ["escaped keys without end", `{${'"\\n" '.repeat(half / 3)}`],
    ["quotes", '"'.repeat(2 * half)],
    ["colons", `{"a"${":".repeat(2 * half)}`],
    ["many fields", `{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":1`).join(",")}}`],
  ])("the largest frame of %s takes linear time", (_title, text) => {
    expect(spentMs(text)).toBeLessThan(boundMs);
  });

  test("the largest frame of any two runs takes linear time", () => {
    const head = fc.array(token, { maxLength: 3 }).map((t) => t.join(""));
    const word = fc.array(token, { minLength: 1, maxLength: 3 }).map((t) => t.join(""));
    const run = word.map((text) => text.repeat(Math.ceil(half / text.length)));
    fc.assert(
      fc.property(
        fc.constantFrom("", "{", '{"a":', '{"payload":{"a":'),
        head,
        run,
        run,
        (start, more, a, b) => {
          expect(spentMs(start + more + a + b)).toBeLessThan(boundMs);
        },
      ),
      { numRuns: 30, endOnFailure: true },
    );
  });
});
