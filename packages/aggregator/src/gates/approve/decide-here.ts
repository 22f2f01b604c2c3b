// A human decides at the page: with a signature made elsewhere, or with a passkey. Both end in the same proof.
// [AX-11.3-2] [AX-11.3-5]
import type { HttpRequest, HttpResponse } from "@mcpx/host";
import {
  challengeOf,
  decisions,
  isObject,
  type JsonObject,
  McpxError,
  readStatement,
  type Statement,
  statementOf,
} from "@mcpx/protocol";
import type { TreeState } from "../../servers/tree-state.ts";
import { decideSoon, prove } from "../confirm.ts";
import { anchorsNow, type Gatekeeper } from "../gatekeeper.ts";
import type { PasskeyKey } from "../proofs/anchors.ts";
import type { PasskeyProof } from "../proofs/proof-passkey.ts";
import { type Gate, termsOf } from "../store/gate-store.ts";
import { factsOf, findGate } from "./facts.ts";
import { checkNamed, originOf, rpIdOf } from "./where.ts";

export interface ApprovalParts {
  state: TreeState;
  gates: Gatekeeper;
}

const promptMsMax = 120_000;

export async function takeProof(parts: ApprovalParts, request: HttpRequest): Promise<HttpResponse> {
  const { proof } = await readBody(request);
  if (typeof proof !== "string") throw new McpxError("bad_request", "proof must be a string");
  return await decideWith(parts, request, proof.trim());
}

/** What the browser is to ask the passkey: the challenge is this one decision about this one call. */
export async function passkeyOptions(
  { state, gates }: ApprovalParts,
  request: HttpRequest,
): Promise<HttpResponse> {
  const gate = await findGate(gates, request.params.id);
  checkOpen(gate);
  const statement = readWish(gate, gates, await readBody(request));
  return { body: await promptFor({ state, gates }, request, gate, await challengeOf(statement)) };
}

/** For any passkey that can be used at this address. */
export async function promptFor(
  { state, gates }: ApprovalParts,
  request: HttpRequest,
  { expiresAt }: Pick<Gate, "expiresAt">,
  challenge: string,
): Promise<JsonObject> {
  const rpId = rpIdOf(originOf(request));
  checkNamed(rpId);
  const passkeys = (await anchorsNow(gates)).filter(
    (key): key is PasskeyKey => key.kind === "passkey" && key.passkey.rpId === rpId,
  );
  if (passkeys.length === 0) throw new McpxError("not_found", "no passkey is enrolled for this address");
  // Loaded while the human looks: the decision itself does not wait for it.
  await import("@simplewebauthn/server");
  return {
    challenge,
    rpId,
    timeout: Math.max(1_000, Math.min(promptMsMax, expiresAt - state.clock.now())),
    userVerification: "required",
    allowCredentials: passkeys.map(({ passkey: { credentialId: id, transports } }) => ({
      id,
      type: "public-key",
      transports,
    })),
  };
}

export async function takeAssertion(parts: ApprovalParts, request: HttpRequest): Promise<HttpResponse> {
  return await decideWith(parts, request, proofText(await readBody(request)));
}

/** As it would come by any other way; there it is looked at. */
export function proofText({ decision, reason, credential }: JsonObject): string {
  const { id, response } = isObject(credential) ? credential : {};
  const { clientDataJSON, authenticatorData, signature } = isObject(response) ? response : {};
  const proof: Record<keyof PasskeyProof, unknown> = {
    type: "webauthn",
    decision,
    reason,
    credential_id: id,
    client_data: clientDataJSON,
    authenticator_data: authenticatorData,
    signature,
  };
  return JSON.stringify(proof);
}

async function decideWith(
  { state, gates }: ApprovalParts,
  request: HttpRequest,
  proof: string,
): Promise<HttpResponse> {
  const gate = await findGate(gates, request.params.id);
  checkOpen(gate);
  // A call may take longer than a browser waits: the page asks again for the outcome.
  const proven = await prove(state, gates, gate, { proof, by: undefined });
  const decided = await decideSoon(state, gates, gate, proven);
  const rpId = rpIdOf(originOf(request));
  return { body: await factsOf(gates, decided, { state, rpId }) };
}

/** Throws before a person is asked to decide about a gate that is over. */
function checkOpen({ status }: Gate): void {
  if (status === "expired") throw new McpxError("confirmation_expired");
  if (status !== "pending" && status !== "held") throw new McpxError("confirmation_used");
}

function readWish(gate: Gate, { aggregatorId }: Gatekeeper, { decision, reason }: JsonObject): Statement {
  const known = decisions.find((one) => one === decision);
  if (known === undefined) throw new McpxError("bad_request", `decision must be ${decisions.join(" or ")}`);
  if (reason !== undefined && typeof reason !== "string") {
    throw new McpxError("bad_request", "reason must be a string");
  }
  return readStatement(statementOf(termsOf(gate, aggregatorId), known, reason));
}

export async function readBody(request: HttpRequest): Promise<JsonObject> {
  const body = await request.json();
  if (!isObject(body)) throw new McpxError("bad_request", "the body must be an object");
  return body;
}
