// What has become of a proposal, as the result of a tool call. Pure.

import type { Proposal } from "@mcpx/client";
import type { JsonObject } from "@mcpx/protocol";
import { written } from "@mcpx/protocol";
import { RpcError } from "../mcp/rpc-error.ts";

/** Whether nothing more will come of it. */
export function isOver({ status, fulfilment, lateCall, result, error }: Proposal): boolean {
  const isMade = status === "fulfilled" || (fulfilment ?? lateCall) !== undefined;
  return isMade ? result !== undefined || error !== undefined : status !== "pending";
}

/** Throws the target's own error where the call was made and failed. */
export function outcomeResult(proposal: Proposal): JsonObject {
  const { status, result, error } = proposal;
  if (result !== undefined) return Array.isArray(result.content) ? result : { ...result, content: [] };
  if (error !== undefined) {
    const { code, message, data } = error;
    throw new RpcError({
      code: typeof code === "number" ? code : -32_603,
      message: written(message),
      ...(data !== undefined && { data }),
    });
  }
  return isOver(proposal) ? refusedResult(proposal, status) : pendingResult(proposal);
}

function refusedResult({ id, rejections }: Proposal, status: Proposal["status"]): JsonObject {
  const final = rejections.findLast(({ isFinal }) => isFinal);
  const { by, reason = "no reason was given" } = final ?? {};
  const texts: Partial<Record<Proposal["status"], string>> = {
    rejected: `${by ?? "Somebody"} has rejected the proposal: ${reason}`,
    expired: `The proposal has expired, and no call was made for it so far. ${stillPossible(id)}`,
    withdrawn: `The proposal was withdrawn, and no call was made for it so far. ${stillPossible(id)}`,
  };
  return {
    content: [{ type: "text", text: texts[status] ?? `The proposal is ${status}.` }],
    structuredContent: {
      status: `proposal_${status}`,
      proposal_id: id,
      ...(final && { by, reason }),
    },
    isError: true,
  };
}

/** Who fulfils a proposal may do so before they hear of its end. */
function stillPossible(id: string): string {
  return `A call that was already on its way can still be made: proposals.wait with proposal_id ${id} tells.`;
}

function openText({ status, lateCall }: Proposal): string {
  if (lateCall !== undefined) {
    return `The proposal was ${status} already when ${lateCall.fulfiller} made the call, which is not answered yet.`;
  }
  if (status === "fulfilled") return "The call was made and is not answered yet.";
  return "You may not make this call yourself, so it was proposed to the room. Nobody has decided yet.";
}

function pendingResult(proposal: Proposal): JsonObject {
  const { id, targets, expiresAt, rejections, statuses } = proposal;
  const text = openText(proposal);
  return {
    content: [
      { type: "text", text: `${text} Call proposals.wait with proposal_id ${id} to have the outcome.` },
    ],
    structuredContent: {
      status: "proposal_pending",
      proposal_id: id,
      participants: [...targets],
      expires_at: new Date(expiresAt).toISOString(),
      ...(rejections.length > 0 && {
        advice: rejections.map(({ by, reason }) => ({ by, reason: reason ?? null })),
      }),
      ...(statuses.length > 0 && {
        statuses: statuses.map(({ by, status: word }) => ({ by, status: word })),
      }),
    },
  };
}
