import { expect, test } from "vitest";
import type { Gate, GateStatus } from "../gates/store/gate-store.ts";
import { approvalOf, wishOf } from "../gates/testing/gate-wishes.ts";
import { noticeOf, outcomeResult, outcomeText, reasonOf } from "./gate-words.ts";

const gateOf = (status: GateStatus, more: Partial<Gate> = {}): Gate => ({
  ...wishOf(),
  id: "g1",
  nonce: "n1",
  status,
  approvals: [{ ...approvalOf("alice"), at: 0 }],
  createdAt: 0,
  expiresAt: 300_000,
  isDelivered: false,
  ...more,
});
const place = { aggregatorId: "a1", approveUrl: (id: string) => `http://127.0.0.1/approve/${id}` };

test.each<[GateStatus, string]>([
  ["pending", "alice has approved files.delete; 1 of 1."],
  ["consumed", "alice has approved files.delete; it is being called."],
  ["done", "alice has approved files.delete; it is done."],
  ["failed", "alice has approved files.delete; the call has failed."],
  ["held", "alice has approved files.delete; it is done, and its result waits to be released."],
  ["withheld", "alice has approved files.delete; it is done, and its result was withheld."],
  ["indeterminate", "alice has approved files.delete; it is not known whether the call was made."],
  ["rejected", "bob has rejected files.delete: no"],
  ["expired", "No approver decided about files.delete in time."],
])("[B-GATE-2] %s, in words", (status, text) => {
  expect(outcomeText(gateOf(status, { rejectedBy: "bob", reason: "no" }))).toBe(text);
});

test("[B-GATE-2] what a tool has answered, its caller's keys and proofs are in no word of it", () => {
  const gate = gateOf("done", { resultText: '{"result":"the secret"}' });
  const said = JSON.stringify([
    outcomeResult(gate),
    reasonOf(gate),
    noticeOf(place, gate, { last: gate, secrets: [] }),
  ]);
  for (const secret of ["the secret", "key of the agent", "key of alice", "proof of alice", "s1"]) {
    expect(said).not.toContain(secret);
  }
});

test("[B-GATE-1] a notice has the terms, and the difference from the call before", () => {
  const last = gateOf("done", { argumentsText: '{"path":"/tmp/y"}', settledAt: 1_000 });
  expect(noticeOf(place, gateOf("pending"), { last, secrets: [] })).toMatchObject({
    confirmation_id: "g1",
    aggregator_id: "a1",
    arguments_text: '{"path":"/tmp/x"}',
    asked_by: "agent",
    last: { at: "1970-01-01T00:00:01.000Z", by: ["alice"], changes: [{ path: "/path" }] },
  });
});

test.each([
  ["unannotated", "No trusted annotation says how dangerous the tool is."],
  ["panic", "Panic is on: every call waits for an approval."],
  ["rule 3", "The operator's rule 3 requires an approval."],
])("people are told that they are asked because of %s", (why, text) => {
  expect(reasonOf(gateOf("pending", { why }))).toBe(`agent asks for files.delete. ${text}`);
});
