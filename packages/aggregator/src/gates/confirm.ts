// `mcpax/confirm`: somebody brings the proof that a human, or who decides for one, has decided. [AX-11.3-5] [AX-11.3-8]
import { type JsonObject, McpxError } from "@mcpx/protocol";
import { dispatch } from "../dispatch.ts";
import type { Exchange } from "../exchange.ts";
import { principalName } from "../plain-caller.ts";
import { textParam } from "../resolve.ts";
import type { TreeState } from "../tree-state.ts";
import { type Gate, termsOf } from "./gate-store.ts";
import { anchorsNow, type Gatekeeper, wake } from "./gatekeeper.ts";
import { type CheckedProof, checkProof } from "./proofs.ts";
import { release } from "./release.ts";
import { outcome, tell } from "./wait-at.ts";

/** Wrong proofs for one gate. */
const failuresMax = 10;

export async function confirm(state: TreeState, gates: Gatekeeper, exchange: Exchange): Promise<JsonObject> {
  const id = textParam(exchange.params, "confirmation_id");
  const gate = await gates.store.find(id);
  if (gate === undefined) return await confirmBelow(state, gates, exchange, id);
  const by = exchange.caller.principal.id;
  const proof = await prove(state, gates, gate, { proof: textParam(exchange.params, "proof"), by });
  const decided = await decide(state, gates, gate, proof);
  // Whoever asked has not heard it by that, unless it is the same one.
  const told =
    principalName(exchange.caller.principal) === gate.principal
      ? await outcome(gates, decided)
      : tell(decided);
  return told ?? openAnswer(decided);
}

/** Decided by whoever has proven it; what was approved by enough of them happens now. */
export async function decide(
  state: TreeState,
  gates: Gatekeeper,
  gate: Gate,
  { by, thumbprint, statement, proofHash, proof }: CheckedProof & { proof: string },
): Promise<Gate> {
  const { store } = gates;
  const { decision, reason } = statement;
  const detail = { gate: gate.id, digest: gate.digest, proof: proofHash, key: thumbprint };
  state.audit?.record({ action: `gate.${decision}`, actor: by, subject: gate.tool, detail });
  if (decision === "reject") {
    const rejected = await store.reject(gate.id, { by, reason, proofHash });
    wake(gates, rejected);
    return rejected;
  }
  const approved = await store.approve(gate.id, { by, thumbprint, proof, proofHash });
  if (approved.status === "approved") return await release(state, gates, approved);
  wake(gates, approved);
  return approved;
}

/** `by`: who has brought it, which need not be who has signed it. */
export async function prove(
  { clock, audit }: TreeState,
  gates: Gatekeeper,
  gate: Gate,
  { proof, by }: { proof: string; by: string | undefined },
): Promise<CheckedProof & { proof: string }> {
  const { failures, aggregatorId } = gates;
  const tried = failures.get(gate.id) ?? 0;
  if (tried >= failuresMax) throw new McpxError("rate_limited", "too many wrong proofs for this call");
  // Before anything is awaited: racers count too. What is decided is forgotten.
  failures.set(gate.id, tried + 1);
  const requester = { principal: gate.principal, thumbprints: gate.keys };
  try {
    const terms = termsOf(gate, aggregatorId);
    return { ...(await checkProof(proof, terms, anchorsNow(gates), { requester, now: clock.now() })), proof };
  } catch (error) {
    const reason = error instanceof McpxError ? error.code : "internal";
    audit?.record({ action: "gate.proof", actor: by, subject: gate.tool, reason });
    throw error;
  }
}

/** A gate of a tree below: that one checks the proof, and answers. */
async function confirmBelow(
  state: TreeState,
  { below }: Gatekeeper,
  exchange: Exchange,
  id: string,
): Promise<JsonObject> {
  const server = below.get(id);
  if (server === undefined) throw new McpxError("confirmation_unknown");
  return await dispatch(state, exchange, server, { params: exchange.params });
}

function openAnswer({ id, status, approvals, approvers }: Gate): JsonObject {
  const structuredContent = { status, confirmation_id: id, approvals: approvals.length, approvers };
  const text = `${approvals.length} of ${approvers} have approved.`;
  return { content: [{ type: "text", text }], structuredContent };
}
