// The life of a result that is held: looked at, then released by enough, or withheld for good. Pure.
import { hash } from "node:crypto";
import { McpxError } from "@mcpx/protocol";
import { checkReason, decidedText, ended, withApproval } from "./gate-steps.ts";
import type { ApprovalGiven, Gate, HeldOutcome, ListedGate, Rejection } from "./gate-store.ts";

/** What those who release a result sign, and its caller gets to the byte. */
export function resultDigest(resultText: string): string {
  return `sha256:${hash("sha256", resultText, "base64url")}`;
}

export function heldBack(
  gate: Gate,
  { status: outcome, resultText }: HeldOutcome,
  { at, ttlMs, charsMax }: { at: number; ttlMs: number; charsMax: number },
): Gate {
  if (resultText.length > charsMax)
    return withheld(gate, "the result was too large to be shown for review", at);
  const heldAt = Math.floor(at);
  const review = { outcome, digest: resultDigest(resultText), approvals: [] };
  return { ...gate, status: "held", resultText, review, heldAt, expiresAt: heldAt + Math.floor(ttlMs) };
}

export function resultApproved(gate: Gate, approval: ApprovalGiven, at: number): Gate {
  const review = reviewOf(gate);
  return {
    ...gate,
    review: { ...review, approvals: withApproval(gate, review.approvals, { ...approval, at }) },
  };
}

export function resultRejected(gate: Gate, { by, reason }: Rejection, at: number): Gate {
  reviewOf(gate);
  checkReason(reason);
  return { ...withheld(gate, reason ?? `${by} has not released it`, at), rejectedBy: by };
}

export function isReleased({ status, review, approvers }: Gate): boolean {
  return status === "held" && review !== undefined && review.approvals.length >= approvers;
}

/** What was looked at, and nothing that has taken its place since. */
export function handedOver(gate: Gate, at: number): Gate {
  const { outcome, digest } = reviewOf(gate);
  if (gate.resultText === undefined || resultDigest(gate.resultText) !== digest) {
    return withheld(gate, "the stored result differs from the result that was shown", at);
  }
  return ended(gate, outcome, at);
}

/** The result is deleted: nobody may see it any more. */
export function withheld<T extends ListedGate>(gate: T, reason: string, at: number): T {
  return { ...ended(gate, "withheld", at), reason, resultText: undefined };
}

function reviewOf({ status, review }: Gate): NonNullable<Gate["review"]> {
  if (status === "held" && review !== undefined) return review;
  if (status === "pending") throw new McpxError("bad_proof", "the call was not made: it has no result");
  if (status === "expired") throw new McpxError("confirmation_expired");
  throw new McpxError("confirmation_used", status === "held" ? undefined : decidedText[status]);
}
