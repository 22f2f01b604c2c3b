import type { Proposal } from "@mcpx/client";
import { expect, test } from "vitest";
import { isOver, outcomeResult } from "./proposal-outcome.ts";

const pending: Proposal = {
  id: "p1",
  proposer: "alice",
  targets: ["oven"],
  method: "tools/call",
  params: {},
  createdAt: 0,
  expiresAt: 300_000,
  status: "pending",
  rejections: [],
  statuses: [],
};
const fulfilment = { envelopeId: "e", fulfiller: "bob", target: "oven", isChanged: false };

test("[B-ROOM-1] while nobody has decided it is no error, and says how to wait", () => {
  const statuses = [{ by: "bob", status: "considering" }];
  expect(outcomeResult({ ...pending, statuses })).toMatchObject({
    content: [{ type: "text", text: expect.stringContaining("proposals.wait with proposal_id p1") }],
    structuredContent: { status: "proposal_pending", proposal_id: "p1", statuses },
  });
  expect(outcomeResult(pending).isError).toBeUndefined();
});

test("[B-ROOM-1] a call that was made and not answered is still open", () => {
  const made: Proposal = { ...pending, status: "fulfilled", fulfilment };
  expect(isOver(made)).toBe(false);
  expect(outcomeResult(made)).toMatchObject({ structuredContent: { status: "proposal_pending" } });
});

test("[B-ROOM-1] the fulfilment's result is the call's, and so is its error", () => {
  const result = { content: [{ type: "text", text: "done" }] };
  expect(outcomeResult({ ...pending, status: "fulfilled", fulfilment, result })).toBe(result);
  expect(outcomeResult({ ...pending, status: "fulfilled", fulfilment, result: {} })).toEqual({ content: [] });
  const error = { code: -32_602, message: "too hot", data: { max: 250 } };
  expect(() => outcomeResult({ ...pending, status: "fulfilled", fulfilment, error })).toThrow("too hot");
});

test("[B-ROOM-1] a call that was made when the proposal was over is not over with it", () => {
  const late: Proposal = { ...pending, status: "withdrawn", lateCall: fulfilment };
  expect(isOver(late)).toBe(false);
  expect(outcomeResult(late)).toMatchObject({
    content: [{ text: expect.stringMatching(/^The proposal was withdrawn already when bob made the call/) }],
    structuredContent: { status: "proposal_pending" },
  });
  expect(isOver({ ...late, result: {} })).toBe(true);
  expect(outcomeResult({ ...late, result: {} })).toEqual({ content: [] });
});

test.each([
  ["rejected", "oven has rejected the proposal: busy"],
  [
    "expired",
    /^The proposal has expired, and no call was made for it so far\. .*can still be made.* p1 tells/,
  ],
  [
    "withdrawn",
    /^The proposal was withdrawn, and no call was made for it so far\. .*can still be made.* p1 tells/,
  ],
] as const)("[B-ROOM-1] %s is an error with its reason", (status, text) => {
  const rejections = status === "rejected" ? [{ by: "oven", reason: "busy", isFinal: true }] : [];
  expect(outcomeResult({ ...pending, status, rejections })).toMatchObject({
    isError: true,
    content: [{ type: "text", text: expect.stringMatching(text) }],
    structuredContent: { status: `proposal_${status}`, proposal_id: "p1" },
  });
});
