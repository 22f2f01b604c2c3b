import type { Proposal } from "@mcpx/client";
import { expect, test } from "vitest";
import { dealDeck, gateItem, proposalItem, resultOf } from "./deck.ts";
import type { GateView } from "./gates.ts";

const proposal = (more: Partial<Proposal> = {}): Proposal => ({
  id: "p1",
  proposer: "novice",
  targets: ["oven"],
  method: "tools/call",
  params: { name: "heat", arguments: { celsius: 220 } },
  createdAt: 1_000,
  expiresAt: 9_000,
  status: "pending",
  rejections: [],
  statuses: [],
  ...more,
});
const fulfilment = { envelopeId: "e1", fulfiller: "anna", target: "oven", isChanged: false };
const gate = (more: Partial<GateView> = {}): GateView => ({
  id: "g1",
  status: "pending",
  principal: "agent",
  session: "s",
  tool: "files.wipe",
  why: "irreversible",
  route: ["files", "wipe"],
  capability: {},
  approvers: 1,
  approvals: [],
  createdAt: "2026-11-16T06:00:00.000Z",
  expiresAt: "2026-11-16T06:05:00.000Z",
  terms: {} as GateView["terms"],
  argumentsText: '{"exact":9007199254740993}',
  ...more,
});

const item = (more: Partial<Proposal> = {}) => proposalItem("kitchen", proposal(more), (id) => id === "anna");
const outcomeOf = (more: Partial<Proposal>) => item(more).outcome.long;

test("a proposal says who wants what, where", () => {
  expect(item()).toMatchObject({
    who: "novice",
    tool: "heat",
    target: "oven",
    topic: "kitchen",
    args: { celsius: 220 },
    isPending: true,
  });
  expect(item({ targets: ["a", "b"] }).target).toBeUndefined();
  expect(item({ method: "resources/read", params: { uri: "x" } })).toMatchObject({
    tool: "resources/read",
    args: { uri: "x" },
  });
});

test("what became of it always says who decided", () => {
  expect(outcomeOf({ status: "fulfilled", fulfilment })).toBe("Approved by anna. The call is on its way.");
  expect(outcomeOf({ status: "fulfilled", fulfilment, result: {} })).toContain("is done");
  expect(outcomeOf({ status: "fulfilled", fulfilment, result: { isError: true } })).toContain("failed");
  const called = (params: object) => ({
    ...fulfilment,
    isChanged: true,
    called: { method: "tools/call", params: { ...params } },
  });
  const cooler = called({ name: "heat", arguments: { celsius: 180 }, _meta: { more: 1 } });
  expect(outcomeOf({ status: "fulfilled", fulfilment: cooler, result: {} })).toContain(
    "by anna, changed: /arguments/celsius.",
  );
  const many = called({ name: "wipe", arguments: { a: 1, b: 2, c: 3, d: 4, e: 5 } });
  expect(outcomeOf({ status: "fulfilled", fulfilment: many })).toMatch(
    /changed: \/arguments\/a, .*, and 2 more\./,
  );
  const elsewhere = { ...called({ name: "heat", arguments: { celsius: 220 } }), target: "stove" };
  expect(outcomeOf({ status: "fulfilled", fulfilment: elsewhere })).toContain(
    "changed: tools/call of stove.",
  );
  const no = [{ by: "anna", reason: "too hot", isFinal: false }];
  for (const status of ["pending", "withdrawn", "expired", "rejected"] as const) {
    expect(outcomeOf({ status, rejections: no })).toBe(
      "Rejected by anna. “too hot” No call was made for it.",
    );
  }
  expect(outcomeOf({ status: "expired" })).toBe("Nobody decided in time. No call was made for it.");
  expect(outcomeOf({ status: "withdrawn", lateCall: fulfilment, result: {} })).toBe(
    "The proposer withdrew it. anna made the call anyway, and it is done.",
  );
});

test("once we have said no it waits no longer, though others could still say yes", () => {
  const rejected = item({ rejections: [{ by: "anna", isFinal: false }] });
  expect(rejected.isPending).toBe(false);
  // What anybody else says is advice: it hides nothing.
  const advised = item({ rejections: [{ by: "mallory", reason: "nothing to see here", isFinal: false }] });
  expect(advised.isPending).toBe(true);
  expect(advised.outcome.long).toBe(
    "Waiting for a decision. mallory advises against it. “nothing to see here”",
  );
});

test.each([
  ["pending", "Waiting for a signature."],
  ["done", "Approved by anna. The call was made once, and is done."],
  ["failed", "Approved by anna. The call was made, and failed."],
  ["indeterminate", "Approved by anna. It is not known whether the call was made."],
  ["consumed", "Approved by anna. The call is on its way."],
  ["expired", "Nobody decided in time. Nothing has happened."],
  ["of a later time", "This page cannot show the state of this call: load it again."],
])("a gate that is %s says so", (status, words) => {
  const approvals = status === "pending" ? [] : [{ by: "anna", at: "" }];
  expect(gateItem(gate({ status, approvals })).outcome.long).toBe(words);
});

test("a gate counts those who have signed, and a held result waits too", () => {
  const two = gate({ approvers: 2, approvals: [{ by: "anna", at: "" }] });
  expect(gateItem(two).outcome.long).toBe(
    "Waiting for a signature. anna approved it. 1 more of 2 must approve.",
  );
  const held = { status: "held", resultText: "{}" };
  expect(gateItem(gate(held))).toMatchObject({ isPending: true, isReview: true });
  // Who asked for it does not see it.
  expect(gateItem(gate({ status: "held" }))).toMatchObject({ isPending: false, isReview: true });
});

test("the arguments of a gate are those that will be sent, to the digit", () => {
  const { args } = gateItem(gate());
  expect(JSON.stringify(args)).toBe('{"exact":9007199254740993}');
});

test("what was seen waiting stays until it is dismissed; what was not is old news", () => {
  const seen = new Set<string>();
  const [open, old] = [item(), gateItem(gate({ status: "done" }))];
  expect(dealDeck([open, old], seen, new Set())).toEqual({ waiting: [open], settled: [] });
  const done = item({ status: "fulfilled", fulfilment, result: { ok: 1 } });
  expect(dealDeck([done, old], seen, new Set())).toEqual({ waiting: [], settled: [] });
  seen.add(open.key);
  expect(dealDeck([done, old], seen, new Set())).toEqual({ waiting: [], settled: [done] });
  expect(resultOf(done)).toEqual({ result: { ok: 1 } });
  expect(dealDeck([done, old], seen, new Set([done.key]))).toEqual({ waiting: [], settled: [] });
});
