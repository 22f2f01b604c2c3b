import type { RoomEnvelope } from "@mcpx/client";
import { expect, test } from "vitest";
import { createTimeline } from "../store/timeline.ts";
import { bucketTimes, countOutcomes, decisionTimes } from "./charts.ts";
import {
  type Decision,
  gateDecision,
  inOrder,
  roomDecisions,
  settingDecision,
  since,
  waitedMs,
} from "./decisions.ts";
import { lanesOf, ticksOf } from "./lanes.ts";

const params = { name: "heat", arguments: {} };
function said(id: string, from: string, kind: string, more: Partial<RoomEnvelope>): RoomEnvelope {
  return { protocol: "mcpx/v0.1", id, ts: "", from, kind, payload: {}, ...more };
}
const proposal = (id: string, payload: object = {}) =>
  said(id, "agent", "mcp/proposal", { to: ["robot"], payload: { method: "tools/call", params, ...payload } });
const fulfilment = (id: string, of: string, by = "anna") =>
  said(id, by, "mcp", {
    to: ["robot"],
    correlation_id: of,
    payload: { jsonrpc: "2.0", id: 1, method: "tools/call", params },
  });
const answer = (of: string, result: object) =>
  said(`${of}-answer`, "robot", "mcp", { correlation_id: of, payload: { jsonrpc: "2.0", id: 1, result } });
const no = (by: string, of: string, reason: string) =>
  said(`${of}-no-${by}`, by, "mcpx.reject.proposal", { correlation_id: of, payload: { reason } });

/** One a second, from 0. */
function decisionsAfter(envelopes: readonly RoomEnvelope[], isOwn?: (id: string) => boolean): Decision[] {
  const timeline = createTimeline();
  envelopes.forEach((one, i) => {
    timeline.append(one, i * 1_000);
  });
  return roomDecisions("kitchen", timeline.rows, 60_000, isOwn);
}

test("[X1-10.2-1] what became of each proposal of a room, by whom, and after how long", () => {
  const decisions = decisionsAfter([
    proposal("p0"),
    proposal("p1"),
    proposal("p2", { ttl_ms: 20_000 }),
    proposal("p3"),
    fulfilment("c0", "p0"),
    answer("c0", { content: [] }),
    no("robot", "p1", "too hot"),
    said("w", "agent", "mcpx.withdraw.proposal", { correlation_id: "p3" }),
    proposal("p4"),
  ]);
  expect(decisions.map((one) => [one.outcome, one.by, waitedMs(one), one.note])).toEqual([
    ["approved", ["anna"], 4_000, "done"],
    ["rejected", ["robot"], 5_000, "too hot"],
    ["expired", [], 20_000, undefined],
    ["withdrawn", ["agent"], 4_000, undefined],
    ["waiting", [], undefined, undefined],
  ]);
  expect(decisions[0]).toMatchObject({ what: "heat", topic: "kitchen", who: "agent", kind: "proposal" });
});

test("a No of somebody else is advice; it is the last word on what nobody does then, and gives way to a Yes", () => {
  const advised = [proposal("p0"), no("anna", "p0", "hot")];
  const taken = said("w", "agent", "mcpx.withdraw.proposal", { correlation_id: "p0" });
  expect(decisionsAfter(advised)).toMatchObject([{ outcome: "waiting", note: "anna advises against it" }]);
  expect(decisionsAfter([...advised, taken])).toMatchObject([
    { outcome: "rejected", by: ["anna"], decidedAt: 1_000, note: "hot" },
  ]);
  expect(decisionsAfter([...advised, fulfilment("c", "p0", "bob")])).toMatchObject([
    { outcome: "approved", by: ["bob"], note: undefined },
  ]);
  const own = (id: string) => id === "anna";
  expect(decisionsAfter(advised, own)).toMatchObject([{ outcome: "rejected", by: ["anna"] }]);
  expect(decisionsAfter([...advised, taken], own)).toMatchObject([{ outcome: "rejected", by: ["anna"] }]);
});

test("what a gate shows in a room is told once, by the gate", () => {
  expect(decisionsAfter([proposal("p0", { mcpax: { gate: "g" } }), no("anna", "p0", "no")])).toEqual([]);
});

const listed = (status: string, more: object = {}) =>
  gateDecision({
    id: "g",
    status,
    tool: "office.shred",
    principal: "agent",
    createdAt: "2026-11-16T09:00:00.000Z",
    approvers: 2,
    approvals: [],
    ...more,
  });
const gate = (status: string, more: object = {}): Decision => {
  const decision = listed(status, more);
  if (decision === undefined) throw new Error("nobody was asked");
  return decision;
};
const settledAt = "2026-11-16T09:05:00.000Z";
const approvals = [
  { by: "anna", at: "2026-11-16T09:00:10.000Z" },
  { by: "bob", at: "2026-11-16T09:00:30.000Z" },
];

test("[AX-11.3-1] calls at gates: approved with the last signature, rejected or expired when they were settled", () => {
  const approved = gate("done", { approvals, settledAt });
  expect(approved).toMatchObject({ outcome: "approved", by: ["anna", "bob"], note: "done" });
  expect(waitedMs(approved)).toBe(30_000);
  const rejected = gate("rejected", { approvals, rejectedBy: "carl", reason: "no", settledAt });
  expect(rejected).toMatchObject({ outcome: "rejected", by: ["carl"], note: "no" });
  expect(waitedMs(rejected)).toBe(300_000);
  expect(gate("expired", { settledAt })).toMatchObject({ outcome: "expired", by: [] });
  expect(gate("pending", { approvals: approvals.slice(0, 1) })).toMatchObject({
    outcome: "waiting",
    decidedAt: undefined,
  });
  expect(gate("held", { review: { approvals: [] } })).toMatchObject({ outcome: "waiting" });
  expect(gate("done", { review: { approvals } })).toMatchObject({ outcome: "approved", by: ["anna", "bob"] });
});

test("[B-GATE-1] a result that was held: withheld by somebody or by nobody, and waiting until enough have released it", () => {
  const [one] = approvals;
  const withheld = { settledAt, isAllowed: true, review: { approvals: [one] } };
  const no = gate("withheld", { ...withheld, rejectedBy: "carl", reason: "salaries" });
  expect(no).toMatchObject({ outcome: "rejected", by: ["carl"], note: "salaries" });
  expect(no.decidedAt).toBe(Date.parse(settledAt));
  // Also where the call itself was approved.
  expect(gate("withheld", { ...withheld, approvals, rejectedBy: "carl" })).toMatchObject({
    outcome: "rejected",
    by: ["carl"],
  });
  const late = gate("withheld", { ...withheld, reason: "nobody has released it in time" });
  expect(late).toMatchObject({ outcome: "expired", by: [], decidedAt: Date.parse(settledAt) });
  expect(gate("held", { review: { approvals: [one] } })).toMatchObject({ outcome: "waiting", by: [] });
  expect(gate("held", { approvals, review: { approvals: [] } })).toMatchObject({ outcome: "waiting" });
  expect(gate("held", { review: { approvals } })).toMatchObject({ outcome: "approved" });
});

test("what nobody was asked about is no decision; of what was approved the end counts where no time was kept", () => {
  for (const status of ["approved", "consumed", "indeterminate", "withheld", "expired", "done"]) {
    expect([status, listed(status, { isAllowed: true, settledAt })]).toEqual([status, undefined]);
  }
  for (const status of ["consumed", "indeterminate", "withheld"]) {
    expect([status, listed(status, { settledAt })]).toEqual([status, undefined]);
  }
  expect(gate("indeterminate", { approvals, settledAt })).toMatchObject({ outcome: "approved" });
  expect(gate("done", { approvals: [{ by: "anna" }], settledAt }).decidedAt).toBe(Date.parse(settledAt));
});

const setting = settingDecision({
  seq: 1,
  at: "2026-11-16T09:00:00.000Z",
  action: "participant.promote",
  actor: "anna",
  subject: "agent",
  topic: "kitchen",
  reason: "",
  detail: undefined,
  count: 1,
});

test("what was set without being asked has waited for nobody", () => {
  expect(setting).toMatchObject({ what: "raised the level: agent", by: ["anna"], outcome: undefined });
  expect(waitedMs(setting)).toBeUndefined();
});

test("newest first, what waits before all; and only what was decided since then", () => {
  const [approved, waiting] = [gate("done", { approvals }), gate("pending")];
  expect(inOrder([setting, approved, waiting])).toEqual([waiting, approved, setting]);
  expect(since([setting, approved, waiting], Date.parse("2026-11-16T09:00:20.000Z"))).toEqual([
    approved,
    waiting,
  ]);
});

test("counts are of every outcome, times only of what somebody decided", () => {
  const all = [
    gate("done", { approvals }),
    gate("expired", { settledAt: "2026-11-16T10:00:00.000Z" }),
    gate("pending"),
    setting,
  ];
  expect(countOutcomes(all).map(({ outcome, count }) => `${outcome} ${count}`)).toEqual([
    "approved 1",
    "rejected 0",
    "expired 1",
    "withdrawn 0",
    "waiting 1",
  ]);
  expect(decisionTimes(all)).toEqual([30_000]);
  expect(bucketTimes([30_000]).filter(({ count }) => count > 0)).toEqual([{ label: "< 1 min", count: 1 }]);
});

test("lanes are of those who decided; bars that began before the window begin with it", () => {
  const from = Date.parse("2026-11-16T09:00:10.000Z");
  const lanes = lanesOf([gate("done", { approvals }), gate("pending"), setting], from, from + 40_000);
  expect(lanes.map(({ label }) => label)).toEqual(["anna", "nobody"]);
  expect(lanes[0]?.marks).toMatchObject([
    { from: 0, to: 0.5 },
    { from: 0, to: 0 },
  ]);
  expect(lanes[1]?.marks).toMatchObject([{ from: 0, to: 1 }]);
});

test("ticks are whole hours of the reader's clock", () => {
  const from = Date.parse("2026-11-16T09:10:00.000Z");
  const half = 30 * 60_000;
  const ticks = ticksOf(from, from + 6 * 3_600_000, 6, half);
  expect(ticks.map(({ at }) => new Date(at).toISOString().slice(11, 16))).toEqual([
    "09:30",
    "10:30",
    "11:30",
    "12:30",
    "13:30",
    "14:30",
  ]);
  expect(ticks.every(({ part }) => part >= 0 && part <= 1)).toBe(true);
});
