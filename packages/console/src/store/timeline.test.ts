import type { RoomEnvelope } from "@mcpx/client";
import { expect, test } from "vitest";
import { createTimeline } from "./timeline.ts";

let count = 0;
function envelope(kind: string, payload: object, more: Partial<RoomEnvelope> = {}): RoomEnvelope {
  count += 1;
  const base = { protocol: "mcpx/v0.1", id: `e${count}`, ts: "", from: "anna", seq: count } as const;
  return { ...base, kind, payload: { ...payload }, ...more };
}
const chat = (text: string, more?: Partial<RoomEnvelope>) => envelope("chat", { text }, more);
const call = (method: string, more?: Partial<RoomEnvelope>) =>
  envelope("mcp", { jsonrpc: "2.0", id: 1, method, params: {} }, more);
const answer = (to: string) => envelope("mcp", { jsonrpc: "2.0", id: 1, result: {} }, { correlation_id: to });
const textsOf = (timeline: ReturnType<typeof createTimeline>) =>
  timeline.shown.map(({ envelope: { payload } }) => payload.text);

test("what comes twice is there once", () => {
  const timeline = createTimeline();
  const one = chat("hello");
  timeline.append(one, 1);
  timeline.append(one, 2);
  expect(timeline.rows).toHaveLength(1);
});

test("handshakes and lists are noise until they are asked for, with their answers", () => {
  const timeline = createTimeline();
  const listing = call("tools/list");
  const calling = call("tools/call");
  for (const one of [listing, answer(listing.id), calling, answer(calling.id)]) timeline.append(one, 0);
  expect(timeline.shown.map(({ envelope: { id } }) => id)).toEqual([
    calling.id,
    timeline.rows[3]?.envelope.id,
  ]);
  timeline.setFilter({ families: new Set(["protocol"]) });
  expect(timeline.shown).toHaveLength(2);
});

test("a search looks into everything, whatever its case", () => {
  const timeline = createTimeline();
  for (const text of ["Bread", "butter", "more BREAD"]) timeline.append(chat(text), 0);
  timeline.setFilter({ search: "bReAd" });
  expect(textsOf(timeline)).toEqual(["Bread", "more BREAD"]);
  timeline.append(chat("no"), 0);
  timeline.append(chat("breadth"), 0);
  expect(textsOf(timeline)).toEqual(["Bread", "more BREAD", "breadth"]);
});

test("a thread is all that refers to its beginning, over any number of steps", () => {
  const timeline = createTimeline();
  const wish = envelope("mcp/proposal", { method: "tools/call", params: {} });
  const done = call("tools/call", { correlation_id: wish.id });
  for (const one of [wish, chat("meanwhile"), done, answer(done.id)]) timeline.append(one, 0);
  timeline.setFilter({ thread: wish.id });
  expect(timeline.shown.map(({ envelope: { kind } }) => kind)).toEqual(["mcp/proposal", "mcp", "mcp"]);
  timeline.setFilter({ thread: undefined });
  expect(timeline.shown).toHaveLength(4);
});

test("older pages go before, in their order, and nothing is doubled", () => {
  const timeline = createTimeline();
  const [a, b, c] = [chat("a"), chat("b"), chat("c")];
  timeline.append(c, 0);
  expect(timeline.prepend([c, b, a], () => 0)).toBe(2);
  expect(textsOf(timeline)).toEqual(["a", "b", "c"]);
});

test("no more than the bound is remembered, the oldest go first", () => {
  const timeline = createTimeline(10);
  for (let i = 0; i < 25; i += 1) timeline.append(chat(String(i)), i);
  expect(timeline.rows.length).toBeLessThanOrEqual(10);
  expect(textsOf(timeline).at(-1)).toBe("24");
  expect(timeline.find("nobody")).toBeUndefined();
  expect(timeline.find(timeline.rows[0]?.envelope.id ?? "")).toBe(timeline.rows[0]);
});

test("a hundred thousand rows are kept and searched in a blink", () => {
  const timeline = createTimeline();
  for (let i = 0; i < 100_000; i += 1) timeline.append(chat(`line ${i}`), i);
  expect(timeline.shown).toHaveLength(100_000);
  const began = performance.now();
  timeline.setFilter({ search: "line 99999" });
  expect(timeline.shown).toHaveLength(1);
  expect(performance.now() - began).toBeLessThan(5_000);
});

test("a search through many rows goes bit by bit, and ends with what one look would find, whatever comes meanwhile", () => {
  const timeline = createTimeline(20_000);
  const say = (i: number) => chat(i % 3 === 0 ? `bread ${i}` : `tea ${i}`);
  const older = Array.from({ length: 500 }, (_, i) => say(i)).reverse();
  for (let i = 500; i < 9_000; i += 1) timeline.append(say(i), i);
  timeline.setFilter({ search: "bread" });
  expect(timeline.shown.length).toBeGreaterThan(0);
  expect(timeline.shown.length).toBeLessThan(1_000);
  timeline.append(chat("bread at last"), 0);
  expect(timeline.refine()).toBe(true);
  timeline.prepend(older, () => 0);
  timeline.append(chat("bread once more"), 0);
  while (timeline.refine());
  const wanted = timeline.rows.filter((row) => String(row.envelope.payload.text).startsWith("bread"));
  expect(timeline.shown).toEqual(wanted);
  expect(timeline.shown).toHaveLength(3_002);
  expect(timeline.refine()).toBe(false);
});

test("rows that are forgotten while a search goes on are forgotten by it too", () => {
  const timeline = createTimeline(6_000);
  for (let i = 0; i < 6_000; i += 1) timeline.append(chat(`bread ${i}`), i);
  timeline.setFilter({ search: "bread" });
  timeline.refine();
  for (let i = 6_000; i < 6_200; i += 1) timeline.append(chat(`bread ${i}`), i);
  while (timeline.refine());
  expect(timeline.shown).toEqual(timeline.rows);
});
