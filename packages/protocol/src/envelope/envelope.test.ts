import { describe, expect, test } from "vitest";
import { isMcpxError, type Reason } from "../errors.ts";
import { scan } from "../json/scan.ts";
import { defaultLimits as limits } from "../limits.ts";
import { type Envelope, isProtocol, readable, readEnvelope, relayText } from "./envelope.ts";

const chat = { protocol: "mcpx/v0.1", id: "e1", kind: "chat", payload: { text: "hi" } };

function read(text: string): Envelope {
  return readEnvelope(scan(text, limits), limits);
}

/** Reads the chat above with some fields changed; `undefined` leaves one out. */
function readWith(change: Record<string, unknown>): Envelope {
  return read(JSON.stringify({ ...chat, ...change }));
}

function fault(run: () => unknown): { code: Reason; detail: string } {
  try {
    run();
  } catch (error) {
    if (isMcpxError(error)) return { code: error.code, detail: error.detail };
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("[X0-4-2] the fields of an envelope", () => {
  test("are all read", () => {
    const text =
      '{"protocol":"mcp-x/v0","id":"e1","ts":"2025-08-17T14:00:00Z","from":"a","to":["b","c"],' +
      '"kind":"mcp/proposal","correlation_id":"e0","payload":{"method":"m"}}';
    expect(read(text)).toMatchObject({
      protocol: "mcp-x/v0",
      id: "e1",
      ts: "2025-08-17T14:00:00Z",
      from: "a",
      to: ["b", "c"],
      kind: { kind: "mcp/proposal" },
      correlationId: "e0",
      payload: { method: "m" },
    });
  });

  test("ts, from, to and correlation_id may be missing", () => {
    const { ts, from, to, correlationId } = readWith({});
    expect({ ts, from, to, correlationId }).toEqual({
      ts: undefined,
      from: undefined,
      to: [],
      correlationId: undefined,
    });
  });

  test.each(["protocol", "id", "kind", "payload"])("%s may not be missing", (field) => {
    expect(fault(() => readWith({ [field]: undefined }))).toEqual({
      code: "missing_field",
      detail: `${field} is missing`,
    });
  });

  test("others are left alone, __proto__ and constructor too", () => {
    const text =
      '{"__proto__":{"from":"system:gateway","ts":"x"},"constructor":{"prototype":{"from":"x"}},' +
      '"protocol":"mcpx/v0.1","id":"e1","kind":"mcp","trace":{"a":1},' +
      '"payload":{"__proto__":{"jsonrpc":"2.0","method":"m","id":1},"constructor":1}}';
    const envelope = read(text);
    expect(envelope.from).toBeUndefined();
    expect(envelope.ts).toBeUndefined();
    expect(envelope.payload.method).toBeUndefined();
    expect(Object.keys(envelope.payload)).toEqual(["__proto__", "constructor"]);
    expect(Object.getPrototypeOf(envelope.payload)).toBe(Object.prototype);
    expect(({} as { from?: unknown }).from).toBeUndefined();
    expect(readable(envelope.scanned, limits).requestId).toBeUndefined();
    expect(relayText(envelope, "a", "T")).toBe(`${text.slice(0, -1)},"ts":"T","from":"a"}`);
  });
});

describe("[X0-4-6] a wrong type or value is refused with its reason", () => {
  const long = "x".repeat(limits.idCharsMax + 1);
  const many = Array.from({ length: limits.toMax + 1 }, (_, i) => `p${i}`);
  const refused: [field: string, value: unknown, reason: Reason][] = [
    ["id", "", "bad_field"],
    ["id", 1, "bad_field"],
    ["id", null, "bad_field"],
    ["id", ["e1"], "bad_field"],
    ["id", "has space", "bad_field"],
    ["id", "line\n", "bad_field"],
    ["id", "é", "bad_field"],
    ["id", long, "bad_field"],
    ["kind", null, "bad_field"],
    ["kind", 1, "bad_field"],
    ["kind", ["chat"], "bad_field"],
    ["kind", "", "unknown_kind"],
    ["kind", "Chat", "unknown_kind"],
    ["ts", null, "bad_field"],
    ["ts", 1755439200000, "bad_field"],
    ["ts", "", "bad_field"],
    ["ts", "2025-02-30T00:00:00Z", "bad_field"],
    ["ts", "2025-08-17 14:00:00", "bad_field"],
    ["from", null, "bad_field"],
    ["from", "", "bad_field"],
    ["from", long, "bad_field"],
    ["from", { id: "a" }, "bad_field"],
    ["to", null, "bad_field"],
    ["to", "a", "bad_field"],
    ["to", { 0: "a" }, "bad_field"],
    ["to", [1], "bad_field"],
    ["to", [null], "bad_field"],
    ["to", [["a"]], "bad_field"],
    ["to", [""], "bad_field"],
    ["to", ["a", long], "bad_field"],
    ["to", ["a", "b", "a"], "bad_field"],
    ["to", many, "bad_field"],
    ["correlation_id", null, "bad_field"],
    ["correlation_id", 7, "bad_field"],
    ["correlation_id", "", "bad_field"],
    ["correlationId", null, "bad_field"],
    ["correlationId", "a b", "bad_field"],
    ["payload", null, "bad_field"],
    ["payload", "text", "bad_field"],
    ["payload", [], "bad_field"],
    ["payload", 1, "bad_field"],
  ];

  test.each(refused)("%s %j is %s", (field, value, reason) => {
    const { code, detail } = fault(() => readWith({ [field]: value }));
    expect(code).toBe(reason);
    if (code === "bad_field") expect(detail.startsWith(`${field} `)).toBe(true);
  });

  test.each([
    ["id", "x".repeat(limits.idCharsMax)],
    ["from", "room:alpha/agent+1@host-2._"],
    ["to", []],
    ["to", many.slice(1)],
    ["ts", "2025-08-17t14:00:00.123456+02:00"],
    ["payload", {}],
  ])("%s %j is taken", (field, value) => {
    expect(() => readWith({ [field]: value })).not.toThrow();
  });

  test("limits are those of the configuration", () => {
    const strict = { ...limits, idCharsMax: 4, toMax: 1 };
    const readStrict = (change: Record<string, unknown>) =>
      readEnvelope(scan(JSON.stringify({ ...chat, ...change }), strict), strict);
    expect(() => readStrict({ id: "abcd", to: ["abcd"] })).not.toThrow();
    expect(fault(() => readStrict({ id: "abcde" })).detail).toContain("1 to 4 characters");
    expect(fault(() => readStrict({ to: ["abcde"] })).code).toBe("bad_field");
    expect(fault(() => readStrict({ to: ["a", "b"] })).detail).toBe("to must have at most 1 ids");
  });
});

describe("[X1-6.3-3] protocol is a supported one", () => {
  test.each(["mcpx/v0.1", "mcp-x/v0"])("%s is", (protocol) => {
    expect(isProtocol(protocol)).toBe(true);
    expect(readWith({ protocol }).protocol).toBe(protocol);
  });

  test.each([
    "mcpx/v0",
    "mcp-x/v0.1",
    "MCPX/v0.1",
    "mcpx/v0.1 ",
    "mcpx/v0.1\n",
    "",
    null,
    1,
    ["mcpx/v0.1"],
    {},
  ])("%j is not", (protocol) => {
    expect(isProtocol(protocol)).toBe(false);
    expect(fault(() => readWith({ protocol })).code).toBe("unsupported_protocol");
  });

  test("it is told before any other fault: the rest may look different in another version", () => {
    expect(fault(() => readWith({ protocol: "mcpx/v9", id: 1, kind: 2 })).code).toBe("unsupported_protocol");
  });
});

describe("[X0-4-8] what the gateway sets is not the client's to set", () => {
  test.each(["seq", "at", "epoch", "ack", "derived"])("%s is refused, escaped too", (field) => {
    const expected = { code: "reserved_field", detail: `${field} is set by the gateway` };
    expect(fault(() => readWith({ [field]: 1 }))).toEqual(expected);
    const escaped = `\\u${field.charCodeAt(0).toString(16).padStart(4, "0")}${field.slice(1)}`;
    const text = JSON.stringify(chat).replace("{", `{"${escaped}":null,`);
    expect(fault(() => read(text))).toEqual(expected);
  });

  test.each(["SEQ", "At", "Epoch", "ACK", "Derived", "\u017feq", "ac\u212a"])(
    "so is its look-alike %s",
    (field) => {
      expect(fault(() => readWith({ [field]: 1 })).code).toBe("bad_field");
    },
  );

  test("inside the payload they are the sender's own", () => {
    expect(() => readWith({ payload: { seq: 1, at: 2, epoch: 3, ack: 4, derived: 5 } })).not.toThrow();
  });
});

describe("case variants of field names are refused", () => {
  test.each([
    "Protocol", "ID", "Id", "TS", "From", "FROM", "To", "Kind", "KIND", "Correlation_Id", "correlation_ID",
    "CorrelationId", "correlationID", "correlationid", "Payload", "t\u017f", "\u212aind", "\u0131d",
  ])("%s", (field) => {
    expect(fault(() => readWith({ [field]: "x" })).code).toBe("bad_field");
  }); // biome-ignore format: one line reads best

  test("names that merely resemble ours are not", () => {
    expect(() =>
      readWith({ ids: 1, from_: 1, correlation: 1, "correlation-id": 1, sequence: 1 }),
    ).not.toThrow();
  });
});

describe("[PL-1-2] correlation_id and correlationId", () => {
  test.each([
    [{ correlation_id: "p1" }, "p1"],
    [{ correlationId: "p1" }, "p1"],
    [{ correlation_id: "p1", correlationId: "p1" }, "p1"],
    [{}, undefined],
  ])("%j refers to %s", (change, expected) => {
    expect(readWith(change).correlationId).toBe(expected);
  });

  test("where they differ, the envelope is refused", () => {
    expect(fault(() => readWith({ correlation_id: "p1", correlationId: "p2" }))).toEqual({
      code: "bad_field",
      detail: "correlation_id differs from correlationId",
    });
  });

  test("the canonical one is added and the other left", () => {
    const relay = (change: Record<string, unknown>) => {
      const { correlation_id, correlationId } = JSON.parse(relayText(readWith(change), "a", "T"));
      return { correlation_id, correlationId };
    };
    const both = { correlation_id: "p1", correlationId: "p1" };
    expect(relay({ correlationId: "p1" })).toEqual(both);
    expect(relay(both)).toEqual(both);
    expect(relay({ correlation_id: "p1" })).toEqual({ correlation_id: "p1" });
    expect(relay({})).toEqual({});
  });
});

describe("what can be said of an envelope that is refused", () => {
  const from = (envelope: unknown) => readable(scan(JSON.stringify(envelope), limits), limits);
  const request = { jsonrpc: "2.0", method: "m", id: 1 };

  test.each([
    [
      { id: "e1", kind: "mcp", payload: request },
      { envelopeId: "e1", requestId: "1", isMcp: true },
    ],
    [
      { id: "e1", kind: "mcp/request:m", payload: request },
      { envelopeId: "e1", requestId: "1", isMcp: true },
    ],
    [
      { id: "e1", kind: "chat", payload: request },
      { envelopeId: "e1", requestId: undefined, isMcp: false },
    ],
    [
      { id: "a b", kind: "mcp", payload: request },
      { envelopeId: undefined, requestId: "1", isMcp: true },
    ],
    [
      { id: 1, kind: 1, payload: 1 },
      { envelopeId: undefined, requestId: undefined, isMcp: false },
    ],
    [
      { kind: "mcp", payload: { ...request, id: null } },
      { requestId: undefined, isMcp: true },
    ],
    [
      { kind: "mcp", payload: { ...request, id: [1] } },
      { requestId: undefined, isMcp: true },
    ],
    [
      { kind: "mcp", payload: { id: 1, result: {} } },
      { requestId: undefined, isMcp: true },
    ],
    [
      { kind: "mcp", payload: [request] },
      { requestId: undefined, isMcp: true },
    ],
    [{}, { envelopeId: undefined, requestId: undefined, isMcp: false }],
  ])("%j gives %j", (envelope, expected) => {
    expect(from(envelope)).toMatchObject(expected);
  });

  test.each(["42", '"42"', "1.0", "-0", "1e400", "9007199254740993", '"\\u0061"', '""', '"__proto__"'])(
    "[X0-4.1-5] the id %s is echoed as it was written",
    (id) => {
      const text = `{"id":"e1","kind":"mcp","payload":{"method":"m","id" : ${id} }}`;
      expect(readable(scan(text, limits), limits).requestId).toBe(id);
    },
  );
});
