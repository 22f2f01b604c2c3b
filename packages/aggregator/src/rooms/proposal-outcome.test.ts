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
const wait = { tool: "den__proposals__wait", arguments: { proposal_id: "p1" } };
const fulfilment = { envelopeId: "e", fulfiller: "bob", target: "oven", isChanged: false };

test("[B-ROOM-1] [B-CLIENT-2] while nobody has decided it is no error, and says how to wait, wherever a client looks", () => {
  const statuses = [{ by: "bob", status: "considering" }];
  const message = expect.stringMatching(
    /^Nothing has happened yet: .* call the tool den__proposals__wait with \{"proposal_id":"p1"\} /,
  );
  const brief = { status: "proposal_pending", message, proposal_id: "p1", wait };
  const result = outcomeResult({ ...pending, statuses }, wait);
  expect(result).toMatchObject({
    content: [{ type: "text", text: message }],
    structuredContent: { ...brief, statuses },
    _meta: { "x-mcpax-confirmation": brief },
  });
  expect(result).not.toHaveProperty("isError");
});

test("[B-ROOM-1] a call that was made and not answered is still open", () => {
  const made: Proposal = { ...pending, status: "fulfilled", fulfilment };
  expect(isOver(made)).toBe(false);
  expect(outcomeResult(made, wait)).toMatchObject({ structuredContent: { status: "proposal_pending" } });
});

test("[B-ROOM-1] the fulfilment's result is the call's, and so is its error", () => {
  const result = { content: [{ type: "text", text: "done" }] };
  expect(outcomeResult({ ...pending, status: "fulfilled", fulfilment, result }, wait)).toBe(result);
  expect(outcomeResult({ ...pending, status: "fulfilled", fulfilment, result: {} }, wait)).toEqual({
    content: [],
  });
  const error = { code: -32_602, message: "too hot", data: { max: 250 } };
  expect(() => outcomeResult({ ...pending, status: "fulfilled", fulfilment, error }, wait)).toThrow(
    "too hot",
  );
});

test("[B-ROOM-1] a call that was made when the proposal was over is not over with it", () => {
  const late: Proposal = { ...pending, status: "withdrawn", lateCall: fulfilment };
  expect(isOver(late)).toBe(false);
  expect(outcomeResult(late, wait)).toMatchObject({
    content: [{ text: expect.stringMatching(/^The proposal was withdrawn already when bob made the call/) }],
    structuredContent: { status: "proposal_pending" },
  });
  expect(isOver({ ...late, result: {} })).toBe(true);
  expect(outcomeResult({ ...late, result: {} }, wait)).toEqual({ content: [] });
});

test.each([
  ["rejected", "oven has rejected the proposal: busy"],
  [
    "expired",
    /^The proposal has expired, and no call was made for it so far\. .*can still be made: the tool den__proposals__wait .* tells/,
  ],
  [
    "withdrawn",
    /^The proposal was withdrawn, and no call was made for it so far\. .*can still be made: the tool den__proposals__wait .* tells/,
  ],
] as const)("[B-ROOM-1] %s is an error with its reason", (status, text) => {
  const rejections = status === "rejected" ? [{ by: "oven", reason: "busy", isFinal: true }] : [];
  expect(outcomeResult({ ...pending, status, rejections }, wait)).toMatchObject({
    isError: true,
    content: [{ type: "text", text: expect.stringMatching(text) }],
    structuredContent: { status: `proposal_${status}`, proposal_id: "p1" },
  });
});
