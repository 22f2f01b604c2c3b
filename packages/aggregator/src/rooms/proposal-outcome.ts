// The outcome of a proposal, as the result of a tool call. Pure.

import type { Proposal } from "@mcpx/client";
import { confirmationKey, type JsonObject, type WaitAdvice, written } from "@mcpx/protocol";
import { RpcError } from "../mcp/rpc-error.ts";

/** Whether the proposal has ended. */
export function isOver({ status, fulfilment, lateCall, result, error }: Proposal): boolean {
  const isMade = status === "fulfilled" || (fulfilment ?? lateCall) !== undefined;
  return isMade ? result !== undefined || error !== undefined : status !== "pending";
}

/** Throws the target's own error where the call was made and failed. */
export function outcomeResult(proposal: Proposal, wait: WaitAdvice): JsonObject {
  const { result, error } = proposal;
  if (result !== undefined) return Array.isArray(result.content) ? result : { ...result, content: [] };
  if (error !== undefined) {
    const { code, message, data } = error;
    throw new RpcError({
      code: typeof code === "number" ? code : -32_603,
      message: written(message),
      ...(data !== undefined && { data }),
    });
  }
  return isOver(proposal) ? refusedResult(proposal, wait) : pendingResult(proposal, wait);
}

function refusedResult({ id, rejections, status }: Proposal, wait: WaitAdvice): JsonObject {
  const final = rejections.findLast(({ isFinal }) => isFinal);
  const { by, reason = "no reason was given" } = final ?? {};
  const texts: Partial<Record<Proposal["status"], string>> = {
    rejected: `${by ?? "Somebody"} has rejected the proposal: ${reason}`,
    expired: `The proposal has expired, and no call was made for it so far. ${stillPossible(wait)}`,
    withdrawn: `The proposal was withdrawn, and no call was made for it so far. ${stillPossible(wait)}`,
  };
  const message = texts[status] ?? `The proposal is ${status}.`;
  return {
    content: [{ type: "text", text: message }],
    structuredContent: {
      status: `proposal_${status}`,
      message,
      proposal_id: id,
      ...(final && { by, reason }),
    },
    isError: true,
  };
}

/** Who fulfils a proposal may do so before they are told of its end. */
function stillPossible(wait: WaitAdvice): string {
  return `A call that was already on its way can still be made: ${callText(wait)} tells.`;
}

function callText({ tool, arguments: args }: WaitAdvice): string {
  return `the tool ${tool} with ${JSON.stringify(args)}`;
}

function openText({ status, lateCall }: Proposal): string {
  if (lateCall !== undefined) {
    return `The proposal was ${status} already when ${lateCall.fulfiller} made the call, which is not answered yet.`;
  }
  if (status === "fulfilled") return "The call was made and is not answered yet.";
  return "Nothing has happened yet: you may not make this call yourself, so it was proposed to the room. Somebody else there must make it or reject it, in the console or with mcpx; nobody has decided.";
}

/** No error: nothing has failed. Text, `structuredContent` and `_meta` all say it, since clients show one of them. */
function pendingResult(proposal: Proposal, wait: WaitAdvice): JsonObject {
  const { id, targets, expiresAt, rejections, statuses } = proposal;
  const advice = `To wait for the outcome, call ${callText(wait)} (your client may show a prefix before its name).`;
  const message = `${openText(proposal)} ${advice} Making the same call again joins this proposal.`;
  const brief = {
    status: "proposal_pending",
    message,
    proposal_id: id,
    participants: [...targets],
    expires_at: new Date(expiresAt).toISOString(),
    wait,
  };
  return {
    content: [{ type: "text", text: message }],
    structuredContent: {
      ...brief,
      ...(rejections.length > 0 && {
        advice: rejections.map(({ by, reason }) => ({ by, reason: reason ?? null })),
      }),
      ...(statuses.length > 0 && {
        statuses: statuses.map(({ by, status: word }) => ({ by, status: word })),
      }),
    },
    _meta: { [confirmationKey]: brief },
  };
}
