// Becoming an approver: somebody at the gateway's machine, or an approver at its console, makes a link for a name, and
// whoever opens it registers a passkey, once.
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

export interface EnrolDesk {
  gates: Gatekeeper;
  approvers: ApproverStore;
  enrolments: Enrolments;
  audit: Audit;
}

export async function inviteApprover(
  desk: EnrolDesk,
  admin: Principal,
  request: HttpRequest,
): Promise<HttpResponse> {
  const by = principalName(admin);
  const { name } = await readBody(request);
  if (!isApproverName(name)) {
    throw new McpxError("bad_request", "name must be 1 to 64 letters, digits, dots, dashes or underscores");
  }
  checkFree(desk, { name });
  const { ticket, expiresAt } = desk.enrolments.invite(name, by);
  desk.audit.recordNow({ action: "approver.invite", actor: by, subject: name });
  const url = named(new URL(`enroll/${ticket}`, desk.gates.approveUrl("x")));
  return { status: 201, body: { url: url.href, expires_at: new Date(expiresAt).toISOString() } };
}

/** What the browser is to make. */
export async function enrolOptions(desk: EnrolDesk, request: HttpRequest): Promise<HttpResponse> {
  const enrolment = desk.enrolments.find(request.params.ticket);
  const { name } = enrolment;
  const { challenge, ...rest } = creationOptions(name, originOf(request));
  enrolment.challenge = challenge;
  return { body: { challenge, ...rest } };
}

export async function enrolPasskey(desk: EnrolDesk, request: HttpRequest): Promise<HttpResponse> {
  const { credential } = await readBody(request);
  const { enrolment, giveBack } = desk.enrolments.take(request.params.ticket);
  const { name, invitedBy, challenge } = enrolment;
  try {
    const passkey = await readRegistration(credential, challenge, originOf(request));
    checkFree(desk, ...anchorKeys([anchorOf({ name, passkey })]));
    await desk.approvers.add({ name, passkey });
    const detail = { credential: passkey.credentialId, origin: passkey.origin, invitedBy };
    desk.audit.recordNow({ action: "approver.enroll", actor: name, subject: name, detail });
  } catch (error) {
    giveBack();
    const reason = isMcpxError(error) ? error.code : "internal";
    desk.audit.record({ action: "approver.enroll", actor: request.remoteAddress, subject: name, reason });
    throw error;
  }
  return { status: 201, body: { name } };
}

/** Nobody takes the name, the key or the credential of another, configured or enrolled; whose it is stays untold. */
function checkFree({ gates }: EnrolDesk, ...fresh: readonly NewApprover[]): void {
  const known = anchorsNow(gates);
  if (fresh.every((one) => approverClash(one, known) === undefined)) return;
  throw new McpxError("id_conflict", "there is an approver of this name, or with this passkey");
}
