// `mcpax/confirm`: somebody brings the proof that a human, or who decides for one, has decided. [AX-11.3-5] [AX-11.3-8]
import { setTimeout as sleep } from "node:timers/promises";
import { isIrreversible, type JsonObject, McpxError, type Statement } from "@mcpx/protocol";
import { textParam } from "../catalogue/resolve.ts";
import { dispatch } from "../dispatch/dispatch.ts";
import { askerOf } from "../mcp/asker.ts";
import type { Exchange } from "../mcp/exchange.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { anchorsNow, findBelow, type Gatekeeper, wake } from "./gatekeeper.ts";
import { type CheckedProof, checkProof, type ProofQuestion } from "./proofs/proofs.ts";
import { release } from "./release.ts";
import { decideResult } from "./review.ts";
import { gateEvent, recordFirst } from "./store/gate-records.ts";
import { type Gate, termsOf } from "./store/gate-store.ts";
import { outcome, tell } from "./wait-at.ts";

/** Wrong proofs for one gate. */
const failuresMax = 10;
/** How long a decision waits for the outcome. */
const outcomeMs = 8_000;

export async function confirm(state: TreeState, gates: Gatekeeper, exchange: Exchange): Promise<JsonObject> {
  const id = textParam(exchange.params, "confirmation_id");
  const gate = await gates.store.find(id);
  if (gate === undefined) return await confirmBelow(state, gates, exchange, id);
  const by = exchange.caller.principal.id;
  const proof = await prove(state, gates, gate, { proof: textParam(exchange.params, "proof"), by });
  const decided = await decide(state, gates, gate, proof);
  // The asker has not seen the outcome by this answer, unless the asker itself sent the proof.
  const isAsker = askerOf(exchange.caller).name === gate.principal;
  const told = isAsker
    ? await outcome(gates, exchange.caller, decided)
    : tell(decided, exchange.caller.dialect);
  return told ?? openAnswer(decided);
}

/** Decides the gate by a verified proof; a call that has enough approvals is made now. */
export async function decide(
  state: TreeState,
  gates: Gatekeeper,
  gate: Gate,
  proof: CheckedProof & { proof: string },
): Promise<Gate> {
  const isOfResult = proof.statement.phase === "result";
  try {
    checkNamesAsker(gate, proof.statement);
    checkPress(gate, proof);
    return await (isOfResult ? decideResult : decideCall)(state, gates, gate, proof);
  } catch (error) {
    // Too late, or a second time: the proof holds, and still nothing was decided by it.
    recordRefusal(state, gate, proof.by, error);
    throw error;
  }
}

/**
 * A decision, and a moment's wait for the outcome: gives back the gate as it stands then. What is decided happens,
 * also where nobody waits for its end.
 */
export async function decideSoon(
  state: TreeState,
  gates: Gatekeeper,
  gate: Gate,
  proof: CheckedProof & { proof: string },
): Promise<Gate> {
  const deciding = decide(state, gates, gate, proof);
  const left = new AbortController();
  try {
    await Promise.race([deciding, sleep(outcomeMs, undefined, { signal: left.signal, ref: false })]);
  } finally {
    left.abort();
    // After that time nobody waits for the decision, so its error is only logged.
    deciding.catch((error) => state.log.debug({ err: error, gate: gate.id }, "decision refused"));
  }
  return (await gates.store.find(gate.id)) ?? gate;
}

/** A gate of an older build: its approver signs neither who asks nor where it goes. A rejection is safe. */
function checkNamesAsker({ server }: Gate, { decision }: Statement): void {
  if (server === undefined && decision === "approve") throw new McpxError("asker_unsigned");
}

/** What cannot be undone, a change of the gates among it, takes a key of the human's own. [B-BRIDGE-2] */
function checkPress({ capability }: Gate, { isPress }: CheckedProof): void {
  if (isPress && isIrreversible(capability)) {
    throw new McpxError("bad_proof", "the press of a button cannot decide about an irreversible call");
  }
}

async function decideCall(
  state: TreeState,
  gates: Gatekeeper,
  { id }: Gate,
  { by, isPress, thumbprint, statement, proofHash, proof }: CheckedProof & { proof: string },
): Promise<Gate> {
  const { store } = gates;
  const { decision, reason } = statement;
  const decided =
    decision === "approve"
      ? await store.approve(id, { by, thumbprint, proof, proofHash })
      : await store.reject(id, { by, reason, proofHash });
  // Before anything happens: a call whose approval is nowhere to be read is not made, and its gate is over.
  const how = { proof: proofHash, key: thumbprint, ...(isPress && { pressed: true }) };
  await recordFirst(state.audit, gateEvent(decision, by, decided, how)).catch(async (error: unknown) => {
    if (decided.status === "approved") await refuseUnrecorded(gates, decided);
    // What the store has taken is in force, and those who wait are told.
    else wake(gates, decided);
    throw error;
  });
  if (decided.status === "approved") return await release(state, gates, decided);
  wake(gates, decided);
  return decided;
}

async function refuseUnrecorded(gates: Gatekeeper, gate: Gate): Promise<void> {
  const { store } = gates;
  if (!(await store.consume(gate.id))) return;
  const reason = "its approval could not be recorded, so the call was not made";
  await store.settle(gate.id, { status: "refused", refusal: "storage_failed", reason });
  wake(gates, (await store.find(gate.id)) ?? gate);
}

export function recordRefusal(
  { audit }: TreeState,
  { tool }: Pick<Gate, "tool">,
  by: string | undefined,
  error: unknown,
): void {
  const reason = error instanceof McpxError ? error.code : "internal";
  audit?.record({ action: "gate.proof", actor: by, subject: tool, reason });
}

/** `by`: who has brought it, which need not be who has signed it. */
export async function prove(
  state: TreeState,
  gates: Gatekeeper,
  gate: Gate,
  { proof, by }: { proof: string; by: string | undefined },
): Promise<CheckedProof & { proof: string }> {
  const question = { requester: requesterOf(gate), now: state.clock.now() };
  try {
    const terms = termsOf(gate, gates.aggregatorId);
    return { ...(await checkProof(proof, terms, await anchorsNow(gates), question)), proof };
  } catch (error) {
    noteWrong(state, gates, gate, { by, error });
    throw error;
  }
}

export function requesterOf({
  principal,
  keys,
}: Pick<Gate, "principal" | "keys">): ProofQuestion["requester"] {
  return { principal, thumbprints: keys };
}

/** A proof that is not valid leaves a record, and there is an end to that: throws `rate_limited` then. */
export function noteWrong(
  state: TreeState,
  { failures }: Gatekeeper,
  gate: Gate,
  { by, error }: { by: string | undefined; error: unknown },
): void {
  const wrong = (failures.get(gate.id) ?? 0) + 1;
  failures.set(gate.id, wrong);
  // Further wrong proofs leave no records. A right proof still decides: guessing cannot lock the approver out.
  if (wrong > failuresMax) throw new McpxError("rate_limited", "too many wrong proofs for this call");
  recordRefusal(state, gate, by, error);
}

/** A gate of a tree below: that one checks the proof, and answers. */
async function confirmBelow(
  state: TreeState,
  gates: Gatekeeper,
  exchange: Exchange,
  id: string,
): Promise<JsonObject> {
  const server = findBelow(state, gates, id)?.server;
  if (server === undefined) throw new McpxError("confirmation_unknown");
  return await dispatch(state, exchange, server, { params: exchange.params });
}

function openAnswer({ id, status, approvals, review, approvers }: Gate): JsonObject {
  const count = (review ?? { approvals }).approvals.length;
  const structuredContent = { status, confirmation_id: id, approvals: count, approvers };
  const text =
    review === undefined
      ? `${count} of ${approvers} have approved.`
      : `The call was made; ${count} of ${approvers} have released its result.`;
  return { content: [{ type: "text", text }], structuredContent };
}
