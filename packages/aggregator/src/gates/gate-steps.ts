// The life of a gate, step by step: each takes a gate as it is and gives it back as it is afterwards. Pure.
import { gateReasonCharsMax, McpxError } from "@mcpx/protocol";
import type { ApprovalGiven, Gate, GateStatus, Outcome, Rejection } from "./gate-store.ts";

const proofCharsMax = 65_536;
const keysMax = 16;

/** Waits for a decision, or for being released. */
export function isWaiting({ status }: { status: GateStatus }): boolean {
  return status === "pending" || status === "approved";
}

/** Nothing will happen to it any more. */
export function isFinished({ status }: { status: GateStatus }): boolean {
  return !isWaiting({ status }) && status !== "consumed";
}

export function approved(gate: Gate, approval: ApprovalGiven, at: number): Gate {
  checkUndecided(gate);
  if (approval.proof.length > proofCharsMax) throw new McpxError("bad_proof", "the proof is too long");
  const { by, thumbprint } = approval;
  if (gate.keys.includes(thumbprint)) throw new McpxError("self_approval");
  if (gate.approvals.some((one) => one.by === by || one.thumbprint === thumbprint)) {
    throw new McpxError("confirmation_used", "this approver has approved it already");
  }
  const approvals = [...gate.approvals, { ...approval, at }];
  return { ...gate, approvals, status: statusWith(approvals.length, gate) };
}

/** The same call again, perhaps with another key of the same caller. [AX-11.3-6] */
export function joined(gate: Gate, newKeys: readonly string[]): Gate {
  const keys = [...new Set([...gate.keys, ...newKeys])];
  if (!isWaiting(gate) || keys.length === gate.keys.length) return gate;
  if (keys.length > keysMax) throw new McpxError("too_many_gates", "this call came with too many keys");
  const approvals = gate.approvals.filter(({ thumbprint }) => !keys.includes(thumbprint));
  return { ...gate, keys, approvals, status: statusWith(approvals.length, gate) };
}

export function rejected(gate: Gate, { by, reason }: Rejection, at: number): Gate {
  checkUndecided(gate);
  if (reason !== undefined && reason.length > gateReasonCharsMax) {
    throw new McpxError("bad_field", `reason must be at most ${gateReasonCharsMax} characters`);
  }
  return { ...ended(gate, "rejected", at), rejectedBy: by, reason };
}

export function withdrawn(gate: Gate, at: number): Gate {
  checkUndecided(gate);
  return ended(gate, "withdrawn", at);
}

export function settled(gate: Gate, { status, resultText }: Outcome, at: number, charsMax: number): Gate {
  const isKept = resultText !== undefined && resultText.length <= charsMax;
  return { ...ended(gate, status, at), resultText: isKept ? resultText : undefined };
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
  throw new McpxError("confirmation_used", decided[status]);
}

const decided: Readonly<Record<Exclude<GateStatus, "pending" | "expired">, string>> = {
  approved: "it was approved",
  consumed: "it was approved, and the call is on its way",
  done: "it was approved, and the call is done",
  failed: "it was approved, and the call has failed",
  rejected: "it was rejected",
  indeterminate: "it was approved, and what became of the call is unknown",
  withdrawn: "its caller has withdrawn it",
};
