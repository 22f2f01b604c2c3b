// A gate in the words of a room: why it needs an approval, its outcome, and who decided. Never what a tool has
// answered: everybody in the room would see it. Pure. [B-GATE-2]
import type { GateNotice, JsonObject } from "@mcpx/protocol";
import { differenceOf } from "../gates/approve/last-approved.ts";
import { type Gate, termsOf } from "../gates/store/gate-store.ts";

export interface GatePlace {
  aggregatorId: string;
  approveUrl(id: string): string;
}

interface GateContext {
  /** The call of the same tool that was approved before. */
  last: Gate | undefined;
  /** Where the tool's schema says that arguments are secret. */
  secrets: string[];
}

export function noticeOf(
  { aggregatorId, approveUrl }: GatePlace,
  gate: Gate,
  { last, secrets }: GateContext,
): GateNotice & { arguments_text: string } {
  const { id, argumentsText, capability, approvers, principal, createdAt, why } = gate;
  return {
    ...termsOf(gate, aggregatorId),
    arguments_text: argumentsText,
    arguments_chars: argumentsText.length,
    annotation: { ...capability },
    approve_url: approveUrl(id),
    approvers,
    asked_by: principal,
    asked_at: new Date(createdAt).toISOString(),
    why,
    ...(secrets.length > 0 && { secrets }),
    ...(last && { last: differenceOf(last, gate) }),
  };
}

const reasons: Readonly<Record<string, string>> = {
  irreversible: "The tool says that it cannot be undone.",
  unannotated: "No trusted annotation says how dangerous the tool is.",
  reversible: "A rule of the operator asks for an approval.",
  panic: "Panic is on: every call waits for an approval.",
  "weaker gates": "The change makes gates weaker, or changes who approves.",
};

/** Why people are asked. */
export function reasonOf({ principal, tool, why }: Gate): string {
  return `${principal} asks for ${tool}. ${reasons[why] ?? `The operator's ${why} requires an approval.`}`;
}

/** The outcome, in a sentence. */
export function outcomeText(gate: Gate): string {
  const { tool, approvals, approvers, rejectedBy, reason } = gate;
  const by = approvals.map((one) => one.by).join(" and ");
  const why = reason === undefined ? "" : `: ${reason}`;
  switch (gate.status) {
    case "pending":
      return `${by === "" ? "Nobody has" : `${by} has`} approved ${tool}; ${approvals.length} of ${approvers}.`;
    case "approved":
    case "consumed":
      return `${by} has approved ${tool}; it is being called.`;
    case "done":
      return `${by} has approved ${tool}; it is done.`;
    case "failed":
      return `${by} has approved ${tool}; the call has failed.`;
    case "held":
      return `${by} has approved ${tool}; it is done, and its result waits to be released.`;
    case "withheld":
      return `${by} has approved ${tool}; it is done, and its result was withheld.`;
    case "indeterminate":
      return `${by} has approved ${tool}; it is not known whether the call was made.`;
    case "rejected":
      return `${rejectedBy ?? "somebody"} has rejected ${tool}${why}`;
    case "refused":
      return `${by} has approved ${tool}; it was not sent${why}`;
    case "expired":
      return `No approver decided about ${tool} in time.`;
  }
}

/** The outcome as fields, for programs. */
export function outcomeFacts({
  id,
  tool,
  status,
  approvals,
  approvers,
  rejectedBy,
  reason,
  refusal,
}: Gate): JsonObject {
  return {
    status,
    confirmation_id: id,
    tool,
    approved_by: approvals.map(({ by }) => by),
    approvers,
    ...(rejectedBy !== undefined && { rejected_by: rejectedBy }),
    ...(refusal !== undefined && { refusal }),
    ...(reason !== undefined && { reason }),
  };
}

/** As an answer: to who has brought a proof, and to the call that ends the proposal. */
export function outcomeResult(gate: Gate): JsonObject {
  return { content: [{ type: "text", text: outcomeText(gate) }], structuredContent: outcomeFacts(gate) };
}
