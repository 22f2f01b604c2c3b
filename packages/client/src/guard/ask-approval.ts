// Asks whether: the owner's own code, or the humans in the room. There it is a proposal of the owner to itself; a human
// who fulfils it approves, one who rejects it refuses, and nobody decides about their own wish. [AC-1-10] [AC-3-2]
import { capabilityMethods, type JsonObject, McpxError } from "@mcpx/protocol";
import { newId } from "../core/new-id.ts";
import { publish } from "../core/room-core.ts";
import type { GuardedRequest } from "./admissions.ts";
import type { ApprovalAnswer, ApprovalQuestion, GuardState } from "./guard-state.ts";
import { isHumanHere } from "./guard-state.ts";

const waitingMax = 64;
const defaultTimeoutMs = 300_000;

/** `false` also where nobody can be asked. Throws `approval_timeout`. */
export async function askApproval(
  state: GuardState,
  question: Omit<ApprovalQuestion, "signal">,
  signal: AbortSignal,
): Promise<ApprovalAnswer> {
  const { approve, approvalTimeoutMs = defaultTimeoutMs } = state.options;
  if (approve === undefined) return false;
  if (state.waiting >= waitingMax) {
    throw new McpxError("rate_limited", `${waitingMax} questions wait for an answer`, {
      retryAfterMs: 10_000,
    });
  }
  const late = AbortSignal.timeout(approvalTimeoutMs);
  const end = AbortSignal.any([late, signal, state.ended.signal]);
  state.waiting += 1;
  try {
    const asked = { ...question, signal: end };
    const answer = approve === "room" ? askRoom(state, asked, approvalTimeoutMs) : approve(asked);
    return await Promise.race([answer, aborted(end)]);
  } catch (error) {
    if (!late.aborted) throw error;
    throw new McpxError("approval_timeout", "nobody has decided in time");
  } finally {
    state.waiting -= 1;
  }
}

async function askRoom(state: GuardState, question: ApprovalQuestion, timeoutMs: number): Promise<boolean> {
  const { core, questions } = state;
  const { signal, kind, from, tools, duration, reason } = question;
  const id = newId();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  questions.set(id, { from, decide: (isYes) => resolve(isYes) });
  const params: JsonObject = {
    kind,
    from,
    tools,
    ...(duration === undefined ? {} : { duration }),
    ...(kind === "call" ? { arguments: question.arguments } : {}),
  };
  const why = reason ?? (kind === "call" ? `${from} wants to call a tool` : `${from} asks for a capability`);
  const payload = { method: capabilityMethods.approve, params, reason: why, ttl_ms: timeoutMs };
  try {
    await publish(core, { kind: "mcp/proposal", id, to: [core.id], payload });
    return await Promise.race([promise, aborted(signal)]);
  } finally {
    questions.delete(id);
    // Nobody has to look at it any more; where it was decided this changes nothing.
    if (core.tracker.get(id)?.status === "pending" && !core.connection.signal.aborted) {
      publish(core, { kind: "mcpx.withdraw.proposal", correlation_id: id, payload: {} }).catch(() => {});
    }
  }
}

/** A human fulfils the question's proposal: yes. */
export function takeApproval(state: GuardState, { peer, proposal }: GuardedRequest): JsonObject {
  const question = state.questions.get(proposal?.id ?? "");
  if (question === undefined)
    throw new McpxError("confirmation_unknown", "this question is not open; it was answered, or has expired");
  if (!mayDecide(state, peer, question.from)) {
    throw new McpxError("self_approval", "humans decide here, and nobody about their own wish");
  }
  question.decide(true, peer);
  return { approved: true };
}

/** A human advises against the question's proposal: no. */
export function takeRejection(state: GuardState, proposalId: string, by: string | undefined): void {
  const question = state.questions.get(proposalId);
  if (question === undefined || by === undefined || !mayDecide(state, by, question.from)) return;
  question.decide(false, by);
}

function mayDecide(state: GuardState, by: string, from: string): boolean {
  return by !== from && isHumanHere(state, by);
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
