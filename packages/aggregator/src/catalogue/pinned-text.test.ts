import { readCapability } from "@mcpx/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { firstPinnedText, pinnedCharsMax, pinnedText } from "./pinned-text.ts";

const shuffled = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, shuffled(inner)]),
  );
};

test("[AX-9.2-1] a tree that begins to pass annotations on as they are has not changed its tools", () => {
  const filled = { ...readCapability({ mutable: false }) };
  const before = pinnedText({ name: "t", _meta: { "x-mcpax-capability": filled, "x-mcpax-hops": 1 } });
  const raw = { mutable: false, "com.example/vendor": 1 };
  const now = {
    name: "t",
    _meta: { "x-mcpax-capability": raw, "x-mcpax-believed": filled, "x-mcpax-hops": 1 },
  };
  expect(pinnedText(now)).toBe(before);
  const looser = { ...now, _meta: { ...now._meta, "x-mcpax-believed": { ...filled, auth_scope: "read" } } };
  // The annotation says nothing of the scope: that is read as the most cautious, whatever is believed below.
  expect(pinnedText(looser)).toBe(before);
  const stricter = { ...now, _meta: { ...now._meta, "x-mcpax-believed": { ...filled, mutable: true } } };
  expect(pinnedText(stricter)).not.toBe(before);
});

test("the order of keys does not matter, and everything else does", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      const text = (schema: unknown) => pinnedText({ name: "t", inputSchema: schema });
      expect(text(shuffled(one))).toBe(text(one));
      expect(text(one) === text(other)).toBe(text(other) === text(one));
      // It is JSON, and means the same.
      expect(JSON.parse(text(one) as string)).toEqual({ inputSchema: JSON.parse(JSON.stringify(one)) });
    }),
  );
});

test("it covers every field, known or not", () => {
  const tool = {
    name: "t",
    title: "T",
    description: "d",
    inputSchema: { type: "object" },
    outputSchema: { type: "object" },
    annotations: { readOnlyHint: true },
    _meta: { "x-mcpax-capability": { mutable: false }, other: 1 },
  };
  const text = pinnedText(tool);
  const others = [
    { title: "U" },
    { description: "e" },
    { description: undefined },
    { inputSchema: { type: "object", properties: {} } },
    { outputSchema: undefined },
    { annotations: { readOnlyHint: false } },
    { annotations: {} },
    { _meta: { "x-mcpax-capability": { mutable: true } } },
    { _meta: {} },
    { _meta: { ...tool._meta, other: 2 } },
    { _meta: [] },
    { icons: [{ src: "https://example.com/a.png" }] },
    { icons: 1 },
    { execution: { taskSupport: "required" } },
    { "x-future": 1 },
    { capability: { mutable: false } },
  ];
  for (const other of others) expect(pinnedText({ ...tool, ...other })).not.toBe(text);
  // What trees on the way write, and what the pin is found by.
  const same = [
    { name: "u" },
    { _meta: { ...tool._meta, "x-mcpax-hops": 4, "x-mcpax-safety": "irreversible_mutable" } },
  ];
  for (const other of same) expect(pinnedText({ ...tool, ...other })).toBe(text);
});

test("a picture counts by its digest, and the store keeps none", () => {
  const text = (picture: string) =>
    pinnedText({ name: "t", icons: [{ src: `data:image/png;base64,${picture}` }] });
  const [one, other] = [text("A".repeat(500_000)), text(`${"A".repeat(499_999)}B`)];
  expect(one).not.toBe(other);
  expect(one?.length).toBeLessThan(300);
  expect(text("A")).toContain("base64,A");
});

test("the text of the first pins is what it was", () => {
  const item = {
    name: "t",
    description: "d",
    inputSchema: {},
    icons: [1],
    _meta: { other: 1, "x-mcpax-capability": { mutable: false, latency_class: "fast" } },
  };
  expect(firstPinnedText(item)).toBe('{"capability":{"mutable":false},"description":"d","inputSchema":{}}');
});

test("how a tool is doing is no change: a tree below tells another class when it has measured one", () => {
  const tool = (capability: object) => pinnedText({ name: "t", _meta: { "x-mcpax-capability": capability } });
  expect(tool({ mutable: true, latency_class: "slow", availability: "degraded" })).toBe(
    tool({ mutable: true, latency_class: "fast" }),
  );
});

test("what is nobody's tool is refused before it is read to its end", () => {
  const deep = JSON.parse(`${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`);
  expect(pinnedText({ inputSchema: deep })).toBeUndefined();
  expect(pinnedText({ description: "x".repeat(pinnedCharsMax) })).toBeUndefined();
  const long = "x".repeat(pinnedCharsMax - 100);
  expect(pinnedText({ description: long })).toContain(long);
  const keys = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`key${i}`, 0]));
  expect(pinnedText({ inputSchema: keys })).toBeUndefined();
  expect(pinnedText({ inputSchema: Array.from({ length: 300_000 }, () => 0) })).toBeUndefined();
});

test("keys that are traps elsewhere are keys here", () => {
  const trap = JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}');
  expect(pinnedText({ inputSchema: trap })).toBe('{"inputSchema":{"__proto__":{"a":1},"constructor":2}}');
});

test("numbers JavaScript would round are told apart", () => {
  const raw = (text: string) => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text);
  expect(pinnedText({ inputSchema: { maximum: raw("9007199254740993") } })).toContain("9007199254740993");
});

test("what only one era says of a tool is no change of it, unless it says how it must be called", () => {
  const tool = { name: "t", inputSchema: { type: "object" } };
  const withSupport = (taskSupport: unknown, more = {}) =>
    pinnedText({ ...tool, execution: { taskSupport, ...more } });
  expect(withSupport("forbidden")).toBe(pinnedText(tool));
  expect(withSupport("optional")).toBe(pinnedText(tool));
  expect(withSupport("required")).not.toBe(pinnedText(tool));
  expect(withSupport("optional", { note: "and send it to me" })).not.toBe(pinnedText(tool));
});
