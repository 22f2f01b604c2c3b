import type { RoomEnvelope } from "@mcpx/client";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createTimeline, type Row } from "../store/timeline.ts";
import { columnsMax, type Sequence, sequenceOf } from "./sequence.ts";
import { placesOf } from "./sequence-places.ts";

let count = 0;
function said(from: string, kind: string, payload: object, more: Partial<RoomEnvelope> = {}): RoomEnvelope {
  count += 1;
  return { protocol: "mcpx/v0.1", id: `e${count}`, ts: "", from, kind, payload: { ...payload }, ...more };
}
const params = { name: "heat", arguments: { celsius: 200 } };
const call = (from: string, to: string, more: Partial<RoomEnvelope> = {}) =>
  said(from, "mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params }, { to: [to], ...more });
const answer = (from: string, of: RoomEnvelope, payload: object = { result: {} }) =>
  said(from, "mcp", { jsonrpc: "2.0", id: 1, ...payload }, { to: [of.from], correlation_id: of.id });
const proposal = (from: string, to: string[]) =>
  said(from, "mcp/proposal", { method: "tools/call", params }, { to });

/** One a second. */
function rowsOf(envelopes: readonly RoomEnvelope[]): readonly Row[] {
  const timeline = createTimeline();
  envelopes.forEach((one, i) => {
    timeline.append(one, i * 1_000);
  });
  return timeline.rows;
}
const drawn = (...envelopes: RoomEnvelope[]) => sequenceOf(rowsOf(envelopes));
const idsOf = ({ columns }: Sequence) => columns.map(({ id }) => id);

test("a call and its answer are two arrows, joined", () => {
  const calling = call("anna", "robot");
  const other = call("bob", "robot");
  const sequence = drawn(calling, other, answer("robot", calling));
  expect(idsOf(sequence)).toEqual(["anna", "robot", "bob"]);
  expect(sequence.arrows).toMatchObject([
    { kind: "call", from: 0, to: [1], answers: undefined, tookMs: undefined },
    { kind: "call", from: 2, to: [1], answers: undefined },
    { kind: "answer", from: 1, to: [0], answers: 0, tookMs: 2_000 },
  ]);
  expect(sequence.activations).toEqual([
    { column: 1, from: 0, to: 2 },
    { column: 1, from: 1, to: undefined },
  ]);
});

test("errors are told from answers, also those that tools give as results", () => {
  const calls = [call("anna", "robot"), call("anna", "robot"), call("anna", "robot")] as const;
  const { arrows } = drawn(
    ...calls,
    answer("robot", calls[0]),
    answer("robot", calls[1], { error: { code: 1, message: "no" } }),
    answer("robot", calls[2], { result: { isError: true, content: [] } }),
  );
  expect(arrows.slice(3).map(({ kind, answers }) => [kind, answers])).toEqual([
    ["answer", 0],
    ["fault", 1],
    ["fault", 2],
  ]);
});

test("[X1-4.2.1-2] what is about a proposal has its number: the call, its answer, a No, a withdrawal", () => {
  const one = proposal("agent", ["robot"]);
  const two = proposal("agent", ["robot"]);
  const done = call("anna", "robot", { correlation_id: two.id });
  const { arrows } = drawn(
    one,
    two,
    done,
    answer("robot", done),
    said("anna", "mcpx.reject.proposal", { reason: "no" }, { correlation_id: one.id, to: ["agent"] }),
    said("agent", "mcpx.withdraw.proposal", {}, { correlation_id: one.id }),
  );
  expect(arrows.map(({ kind, proposal: number, isFulfilment }) => [kind, number, isFulfilment])).toEqual([
    ["proposal", 1, false],
    ["proposal", 2, false],
    ["call", 2, true],
    ["answer", 2, false],
    ["no", 1, false],
    ["word", 1, false],
  ]);
});

test("what is said to everybody goes to every other column; who comes and goes is a note", () => {
  const sequence = drawn(
    call("anna", "robot"),
    said("robot", "chat", { text: "hello" }),
    said("system:gateway", "presence", { event: "join", participant: { id: "carl" } }),
    said("system:gateway", "system", { event: "made_up" }),
  );
  expect(idsOf(sequence)).toEqual(["anna", "robot", "carl"]);
  expect(sequence.arrows[1]).toMatchObject({ kind: "chat", from: 1, to: [0, 2], isToAll: true });
  expect(sequence.arrows[2]).toMatchObject({ kind: "note", from: 2, to: [], isToAll: false });
});

test("only the last are drawn, and too many participants share a column", () => {
  const many = Array.from({ length: 300 }, (_, i) => said(`p${i}`, "chat", { text: "x" }));
  const sequence = sequenceOf(rowsOf([call("anna", "robot"), ...many]));
  expect(sequence.leftOut).toBe(101);
  expect(sequence.arrows).toHaveLength(200);
  expect(sequence.columns).toHaveLength(columnsMax);
  expect(sequence.columns.at(-1)).toEqual({ id: undefined, count: 200 - columnsMax + 1 });
});

test("whoever talks to whomever, every arrow has its places inside the picture", () => {
  const name = fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "system:gateway");
  const one = fc.record({
    from: name,
    to: fc.option(fc.array(name, { maxLength: 4 }), { nil: undefined }),
    kind: fc.constantFrom("chat", "mcp", "mcp/proposal", "presence", "system", "made.up"),
    payload: fc.constantFrom<object>(
      {},
      { method: "x", id: 1 },
      { result: {} },
      { error: 1 },
      { participant: 7 },
    ),
  });
  fc.assert(
    fc.property(fc.array(one, { maxLength: 40 }), fc.integer({ min: 100, max: 2_000 }), (all, widthPx) => {
      const envelopes = all.map(({ from, to, kind, payload }) =>
        said(from, kind, payload, to === undefined ? {} : { to }),
      );
      const sequence = sequenceOf(rowsOf(envelopes));
      const places = placesOf(sequence, { widthPx, gutterPx: 60 });
      for (const { y, x1, x2, labelX, labelPx, heads } of places.arrows) {
        for (const x of [x1, x2, ...heads.map((head) => head.x)]) {
          expect(x).toBeGreaterThanOrEqual(0);
          expect(x).toBeLessThanOrEqual(places.widthPx);
        }
        expect(labelX).toBeGreaterThanOrEqual(0);
        expect(labelX + labelPx).toBeLessThanOrEqual(places.widthPx);
        expect(y).toBeLessThan(places.heightPx);
      }
    }),
  );
});

test("arrows point to where they go, and bars are as long as the call", () => {
  const calling = call("anna", "robot");
  const { arrows, bars, columnXs } = placesOf(drawn(calling, answer("robot", calling)), {
    widthPx: 600,
    gutterPx: 60,
  });
  const [anna, robot] = columnXs;
  expect(arrows[0]).toMatchObject({ x1: anna, x2: robot, heads: [{ x: robot, isLeftward: false }] });
  expect(arrows[1]?.heads).toEqual([{ x: anna, isLeftward: true }]);
  expect(bars).toMatchObject([{ heightPx: (arrows[1]?.y ?? 0) - (arrows[0]?.y ?? 0), isOpen: false }]);
});
