// Becoming an approver: somebody at the gateway's machine, or an approver at its console, makes a link for a name, and
// the person who opens it registers a passkey, once.
import type { Audit, HttpRequest, HttpResponse, Principal } from "@mcpx/host";
import { isMcpxError, McpxError } from "@mcpx/protocol";
import { principalName } from "../../mcp/plain-caller.ts";
import { approverClash, type NewApprover } from "../approver-clash.ts";
import { anchorsNow, type Gatekeeper } from "../gatekeeper.ts";
import { anchorKeys } from "../proofs/anchors.ts";
import { type ApproverStore, anchorOf, isApproverName } from "../store/approver-store.ts";
import { readBody } from "./decide-here.ts";
import type { Enrolments } from "./enrolments.ts";
import { creationOptions, readRegistration } from "./registration.ts";
import { named, originOf } from "./where.ts";

export interface EnrolParts {
  gates: Gatekeeper;
  approvers: ApproverStore;
  enrolments: Enrolments;
  audit: Audit;
}

export async function inviteApprover(
  parts: EnrolParts,
  admin: Principal,
  request: HttpRequest,
): Promise<HttpResponse> {
  const by = principalName(admin);
  const { name } = await readBody(request);
  if (!isApproverName(name)) {
    throw new McpxError("bad_request", "name must be 1 to 64 letters, digits, dots, dashes or underscores");
  }
  await checkFree(parts, { name });
  const { ticket, expiresAt } = parts.enrolments.invite(name, by);
  await parts.audit.recordNow({ action: "approver.invite", actor: by, subject: name });
  const url = named(new URL(`enroll/${ticket}`, parts.gates.approveUrl("x")));
  return { status: 201, body: { url: url.href, expires_at: new Date(expiresAt).toISOString() } };
}

/** What the browser is to make. */
export async function enrolOptions(parts: EnrolParts, request: HttpRequest): Promise<HttpResponse> {
  const enrolment = parts.enrolments.find(request.params.ticket);
  const { name } = enrolment;
  const { challenge, ...rest } = creationOptions(name, originOf(request));
  enrolment.challenge = challenge;
  return { body: { challenge, ...rest } };
}

export async function enrolPasskey(parts: EnrolParts, request: HttpRequest): Promise<HttpResponse> {
  const { credential } = await readBody(request);
  const { enrolment, giveBack } = parts.enrolments.take(request.params.ticket);
  const { name, invitedBy, challenge } = enrolment;
  try {
    const passkey = await readRegistration(credential, challenge, originOf(request));
    await checkFree(parts, ...anchorKeys([anchorOf({ name, passkey })]));
    await parts.approvers.add({ name, passkey });
    const detail = { credential: passkey.credentialId, origin: passkey.origin, invitedBy };
    await parts.audit.recordNow({ action: "approver.enroll", actor: name, subject: name, detail });
  } catch (error) {
    giveBack();
    const reason = isMcpxError(error) ? error.code : "internal";
    parts.audit.record({ action: "approver.enroll", actor: request.remoteAddress, subject: name, reason });
    throw error;
  }
  // Where there are approvers, one of them signs it first. [B-KEY-2]
  const waits = !(await anchorsNow(parts.gates)).some((key) => key.name === name);
  return { status: 201, body: { name, ...(waits && { waits }) } };
}

/** Nobody takes the name, the key or the credential of another, configured or enrolled; whose it is stays untold. */
async function checkFree({ gates }: EnrolParts, ...fresh: readonly NewApprover[]): Promise<void> {
  const known = await anchorsNow(gates);
  if (fresh.every((one) => approverClash(one, known) === undefined)) return;
  throw new McpxError("id_conflict", "there is an approver of this name, or with this passkey");
}
