// The life of a gate, step by step: each takes a gate as it is and gives it back as it is afterwards. Pure.
import { gateReasonCharsMax, McpxError } from "@mcpx/protocol";
import type {
  Approval,
  ApprovalGiven,
  CallOutcome,
  Gate,
  GateStatus,
  GateWish,
  Rejection,
} from "./gate-store.ts";

const proofCharsMax = 65_536;
const keysMax = 16;

/** Waits for a decision, or for being released. */
export function isWaiting({ status }: { status: GateStatus }): boolean {
  return status === "pending" || status === "approved" || status === "held";
}

/** Whether the call was not sent. */
export function isUnsent({ status }: { status: GateStatus }): boolean {
  return status === "pending" || status === "approved";
}

/** Nothing will happen to it any more. */
export function isFinished({ status }: { status: GateStatus }): boolean {
  return !isWaiting({ status }) && status !== "consumed";
}

export function approved(gate: Gate, approval: ApprovalGiven, at: number): Gate {
  checkUndecided(gate);
  const approvals = withApproval(gate, gate.approvals, { ...approval, at });
  return { ...gate, approvals, status: statusWith(approvals.length, gate) };
}

/** Each approver once, and never the caller. */
export function withApproval(gate: Gate, before: readonly Approval[], approval: Approval): Approval[] {
  if (approval.proof.length > proofCharsMax) throw new McpxError("bad_proof", "the proof is too long");
  const { by, thumbprint } = approval;
  if (gate.keys.includes(thumbprint)) throw new McpxError("self_approval");
  if (before.some((one) => one.by === by || one.thumbprint === thumbprint)) {
    throw new McpxError("confirmation_used", "this approver has approved it already");
  }
  return [...before, approval];
}

/** The same call again, perhaps with another key of the same caller. [AX-11.3-6] */
export function joined(before: Gate, { keys: newKeys, token }: Pick<GateWish, "keys" | "token">): Gate {
  if (!isWaiting(before)) return before;
  const keys = [...new Set([...before.keys, ...newKeys])];
  const isSameToken = token === undefined || token.jti === before.token?.jti;
  const gate = isSameToken ? before : { ...before, token };
  if (keys.length === before.keys.length) return gate;
  if (keys.length > keysMax)
    throw new McpxError(
      "too_many_gates",
      `this call was made again with more than ${keysMax} different keys`,
    );
  const others = (given: readonly Approval[]) => given.filter(({ thumbprint }) => !keys.includes(thumbprint));
  // What has happened has; only who releases its result can still change.
  if (gate.review)
    return { ...gate, keys, review: { ...gate.review, approvals: others(gate.review.approvals) } };
  const approvals = others(gate.approvals);
  return { ...gate, keys, approvals, status: statusWith(approvals.length, gate) };
}

export function rejected(gate: Gate, { by, reason }: Rejection, at: number): Gate {
  checkUndecided(gate);
  checkReason(reason);
  return { ...ended(gate, "rejected", at), rejectedBy: by, reason };
}

export function checkReason(reason: string | undefined): void {
  if (reason === undefined || reason.length <= gateReasonCharsMax) return;
  throw new McpxError("bad_field", `reason must be at most ${gateReasonCharsMax} characters`);
}

export function settled(
  gate: Gate,
  { status, resultText, reason, refusal }: CallOutcome,
  at: number,
  charsMax: number,
): Gate {
  const isKept = resultText !== undefined && resultText.length <= charsMax;
  return { ...ended(gate, status, at), resultText: isKept ? resultText : undefined, reason, refusal };
}

export function ended<T extends { status: GateStatus }>(gate: T, status: GateStatus, at: number) {
  return { ...gate, status, settledAt: at };
}

function statusWith(approvals: number, { approvers }: Gate): "approved" | "pending" {
  return approvals >= approvers ? "approved" : "pending";
}

/** The first decision wins. */
function checkUndecided({ status }: Gate): void {
  if (status === "pending") return;
  if (status === "expired") throw new McpxError("confirmation_expired");
  throw new McpxError("confirmation_used", decidedText[status]);
}

export const decidedText: Readonly<Record<Exclude<GateStatus, "pending" | "expired">, string>> = {
  approved: "it was approved",
  consumed: "it was approved, and the call is on its way",
  done: "it was approved, and the call is done",
  failed: "it was approved, and the call has failed",
  rejected: "it was rejected",
  indeterminate: "it was approved, and the outcome of the call is unknown",
  held: "the call is done, and its result waits to be released",
  withheld: "the call is done, and its result was withheld",
  refused: "it was approved, and could not be sent as it was signed",
};
