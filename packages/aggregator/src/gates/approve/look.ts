// An approver looks at a held result, which nobody else may: the address of the page is known to the asker, so a
// passkey says who looks. What it signs decides nothing.
import { hash } from "node:crypto";
import type { HttpRequest, HttpResponse } from "@mcpx/host";
import { canonicalJson, type GateTerms, McpxError } from "@mcpx/protocol";
import { noteWrong, requesterOf } from "../confirm.ts";
import { anchorsNow } from "../gatekeeper.ts";
import { provePresence } from "../proofs/proof-passkey.ts";
import { checkOther } from "../proofs/proofs.ts";
import { gateEvent, recordFirst } from "../store/gate-records.ts";
import { type Gate, termsOf } from "../store/gate-store.ts";
import { type ApprovalParts, promptFor, proofText, readBody } from "./decide-here.ts";
import { findGate } from "./facts.ts";

export async function lookOptions(parts: ApprovalParts, request: HttpRequest): Promise<HttpResponse> {
  const gate = await findHeld(parts, request);
  const challenge = lookChallenge(termsOf(gate, parts.gates.aggregatorId));
  return { body: await promptFor(parts, request, gate, challenge) };
}

/** What came of the call, to the byte, for an approver who is not who asked. */
export async function lookAtResult(parts: ApprovalParts, request: HttpRequest): Promise<HttpResponse> {
  const { state, gates } = parts;
  const body = await readBody(request);
  const gate = await findHeld(parts, request);
  const challenge = lookChallenge(termsOf(gate, gates.aggregatorId));
  try {
    const { key, use } = await provePresence(proofText(body), challenge, await anchorsNow(gates));
    checkOther(key, undefined, requesterOf(gate));
    await use?.();
    await recordFirst(state.audit, gateEvent("look", key.name, gate, { key: key.thumbprint }));
  } catch (error) {
    noteWrong(state, gates, gate, { by: undefined, error });
    throw error;
  }
  return { body: { result_text: gate.resultText, result_digest: gate.review?.digest } };
}

/** No statement has these fields: what lets somebody look never passes for a decision. */
function lookChallenge(terms: GateTerms): string {
  return hash("sha256", canonicalJson({ look: { ...terms } }), "base64url");
}

async function findHeld({ gates }: ApprovalParts, request: HttpRequest): Promise<Gate> {
  const gate = await findGate(gates, request.params.id);
  if (gate.status !== "held")
    throw new McpxError("confirmation_used", "no result of this call waits to be released");
  return gate;
}
