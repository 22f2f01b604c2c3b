import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scan } from "../json/scan.ts";
import { defaultLimits as limits } from "../limits.ts";
import {
  bodyText,
  type Envelope,
  payloadText,
  readEnvelope,
  relayText,
  replaceFields,
  withFields,
} from "./envelope.ts";

const chat = { protocol: "mcpx/v0.1", id: "e1", kind: "chat", payload: { text: "hi" } };

function read(text: string): Envelope {
  return readEnvelope(scan(text, limits), limits);
}

/** Reads the chat above with some fields changed. */
function readWith(change: Record<string, unknown>): Envelope {
  return read(JSON.stringify({ ...chat, ...change }));
}

describe("[X0-4-3] what makes two envelopes with one id the same", () => {
  const body = (change: Record<string, unknown>) => bodyText(readWith(change));

  test.each([
    ["ts", { ts: "2025-08-17T14:00:00Z" }],
    ["from", { from: "a" }],
    ["an empty to", { to: [] }],
    ["fields we do not know", { trace: 1 }],
  ])("%s makes no difference", (_title, change) => {
    expect(body(change)).toBe(body({}));
  });

  test("nor does the spelling of correlation_id", () => {
    expect(body({ correlationId: "p1" })).toBe(body({ correlation_id: "p1" }));
  });

  test.each([
    ["kind", { kind: "system" }],
    ["to", { to: ["a"] }],
    ["correlation_id", { correlation_id: "p1" }],
    ["payload", { payload: { text: "hi!" } }],
  ])("%s makes one", (_title, change) => {
    expect(body(change)).not.toBe(body({}));
  });

  test("payloads are compared by their bytes", () => {
    const withPayload = (payload: string) =>
      bodyText(read(JSON.stringify(chat).replace('{"text":"hi"}', payload)));
    expect(withPayload('{"n":1.0}')).not.toBe(withPayload('{"n":1}'));
    expect(withPayload('{"n":9007199254740993}')).not.toBe(withPayload('{"n":9007199254740992}'));
  });

  test("no field can pass for another", () => {
    expect(body({ to: ["a"], correlation_id: "b" })).not.toBe(body({ to: ["a", "b"] }));
    expect(body({ kind: "mcp/proposal:m:[]" })).not.toBe(body({ kind: "mcp/proposal:m" }));
  });
});

describe("adding and replacing fields", () => {
  test("nothing added leaves the text as it is", () => {
    expect(withFields('{ "a":1 }', [])).toBe('{ "a":1 }');
  });

  test("fields are added at the end", () => {
    expect(withFields('{ "a":1 }', ['"b":2', '"c":3'])).toBe('{ "a":1 ,"b":2,"c":3}');
  });

  test("fields are replaced in any order, the rest untouched", () => {
    const scanned = scan('{ "a" : 1.0 , "b":[1], "payload":{} }', limits);
    const expected = '{ "a" : "longer" , "b":[1], "payload":0 }';
    expect(replaceFields(scanned, { a: '"longer"', payload: "0" })).toBe(expected);
    expect(replaceFields(scanned, { payload: "0", a: '"longer"' })).toBe(expected);
  });
});

describe("relaying", () => {
  const payloads = [
    '{"n":[1.0,1e400,-0,9007199254740993,0.1000]}',
    '{"s":"\\u0061\\/\\ud83d\\ude00 😀"}',
    '{"deep":{"k":1,"k":2,"__proto__":{"a":1},"constructor":null}}',
    '{ "spaced" :\t[ 1 ,\n2 ] }',
    '{"to":["x"],"from":"y","payload":{"payload":{}}}',
    "{}",
  ];
  // The payload stands first, in the middle or last.
  const layouts = [
    (p: string) => `{"payload":${p},"protocol":"mcpx/v0.1","id":"e1","kind":"system"}`,
    (p: string) => ` {"protocol":"mcpx/v0.1", "id":"e1" ,"payload" : ${p} , "kind":"system" }\n`,
    (p: string) => `{"protocol":"mcpx/v0.1","id":"e1","kind":"system","from":"a","payload":\n${p}\n}`,
  ];
  const cases = payloads.flatMap((payload) => layouts.map((layout) => ({ payload, text: layout(payload) })));

  test.each(cases)("[X0-7-3] the payload's bytes stay as they are: $text", ({ payload, text }) => {
    const envelope = read(text);
    expect(payloadText(envelope)).toBe(payload);
    const relayed = scan(relayText(envelope, "a", "2025-08-17T14:00:00Z"), limits);
    const span = relayed.fields.get("payload");
    expect(relayed.text.slice(span?.start, span?.end)).toBe(payload);
  });

  test("[X0-4-4] the sender's ts is relayed as sent, and a missing one filled in", () => {
    const relay = (change: Record<string, unknown>) =>
      JSON.parse(relayText(readWith(change), "a", "2025-08-17T14:00:00Z")).ts;
    expect(relay({ ts: "1999-12-31t23:59:60.5+00:00" })).toBe("1999-12-31t23:59:60.5+00:00");
    expect(relay({})).toBe("2025-08-17T14:00:00Z");
  });

  test("[PL-7-1] a kind is relayed as it was written", () => {
    const kind = "mcp.proposal.tools/call:ctx";
    expect(JSON.parse(relayText(readWith({ kind }), "a", "T")).kind).toBe(kind);
  });

  test("[X0-7-3] whatever is in it, an envelope parses to the same plus what was missing", () => {
    const json = fc.jsonValue({ maxDepth: 3 });
    const envelopes = fc.record(
      {
        protocol: fc.constantFrom("mcpx/v0.1", "mcp-x/v0"),
        id: fc.constant("e1"),
        kind: fc.constantFrom("chat", "mcp", "mcp/proposal", "system"),
        payload: fc.dictionary(fc.string(), json),
        ts: fc.constant("2025-08-17T14:00:00Z"),
        from: fc.constantFrom("a", "b"),
        to: fc.constantFrom([], ["x"], ["x", "y"]),
        correlation_id: fc.constant("p1"),
        correlationId: fc.constant("p1"),
        trace: json,
        constructor: json,
      },
      { requiredKeys: ["protocol", "id", "kind", "payload"] },
    );
    fc.assert(
      fc.property(envelopes, fc.nat(4), (sent, indent) => {
        const text = JSON.stringify(sent, null, indent);
        const relayed = relayText(read(text), "me", "2000-01-01T00:00:00Z");
        const expected = {
          ...JSON.parse(text),
          ...(sent.ts === undefined ? { ts: "2000-01-01T00:00:00Z" } : {}),
          ...(sent.from === undefined ? { from: "me" } : {}),
          ...(sent.correlationId !== undefined ? { correlation_id: sent.correlationId } : {}),
        };
        // As text, because `toEqual` stumbles over own keys named __proto__.
        expect(JSON.stringify(JSON.parse(relayed))).toBe(JSON.stringify(expected));
        expect(relayed.startsWith(text.slice(0, -1))).toBe(true);
        // No field stands twice.
        expect(() => scan(relayed, limits)).not.toThrow();
      }),
    );
  });
});
