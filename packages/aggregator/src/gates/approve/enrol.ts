// Becoming an approver: an admin makes a link for a name, and whoever opens it registers a passkey, once.
import { randomBytes } from "node:crypto";
import type { Audit, HttpRequest, HttpResponse, Principal } from "@mcpx/host";
import { isMcpxError, isObject, type JsonObject, McpxError } from "@mcpx/protocol";
import { principalName } from "../../plain-caller.ts";
import { type ApproverStore, isApproverName } from "../approver-store.ts";
import { anchorsNow, type Gatekeeper } from "../gatekeeper.ts";
import { isBase64Url, jwkOfCose, type Passkey, readPasskey } from "../passkey.ts";
import { readBody } from "./decide-here.ts";
import type { Enrolments } from "./enrolments.ts";
import { checkNamed, named, originOf, rpIdOf } from "./where.ts";

export interface EnrolDesk {
  gates: Gatekeeper;
  approvers: ApproverStore;
  enrolments: Enrolments;
  audit: Audit;
}

/** Ed25519, P-256, and RSA where a platform has nothing else. */
const algorithms = [-8, -7, -257];
const promptMs = 300_000;
const transportsMax = 10;

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
  checkFree(desk, name);
  const { ticket, expiresAt } = desk.enrolments.invite(name, by);
  desk.audit.recordNow({ action: "approver.invite", actor: by, subject: name });
  const url = named(new URL(`enroll/${ticket}`, desk.gates.approveUrl("x")));
  return { status: 201, body: { url: url.href, expires_at: new Date(expiresAt).toISOString() } };
}

/** What the browser is to make. */
export async function enrolOptions(desk: EnrolDesk, request: HttpRequest): Promise<HttpResponse> {
  const enrolment = desk.enrolments.find(request.params.ticket);
  const rpId = rpIdOf(originOf(request));
  checkNamed(rpId);
  enrolment.challenge = randomBytes(32).toString("base64url");
  const { name } = enrolment;
  return {
    body: {
      challenge: enrolment.challenge,
      rp: { id: rpId, name: "mcpx" },
      user: { id: randomBytes(32).toString("base64url"), name, displayName: name },
      pubKeyCredParams: algorithms.map((alg) => ({ alg, type: "public-key" })),
      timeout: promptMs,
      attestation: "none",
      authenticatorSelection: { userVerification: "required", residentKey: "preferred" },
    },
  };
}

export async function enrolPasskey(desk: EnrolDesk, request: HttpRequest): Promise<HttpResponse> {
  const { credential } = await readBody(request);
  const { enrolment, giveBack } = desk.enrolments.take(request.params.ticket);
  const { name, invitedBy, challenge } = enrolment;
  try {
    checkFree(desk, name);
    const passkey = await readRegistration(credential, challenge, originOf(request));
    await desk.approvers.add({ name, passkey });
    const detail = { credential: passkey.credentialId, origin: passkey.origin, invitedBy };
    desk.audit.recordNow({ action: "approver.enrol", actor: name, subject: name, detail });
  } catch (error) {
    giveBack();
    const reason = isMcpxError(error) ? error.code : "internal";
    desk.audit.record({ action: "approver.enrol", actor: request.remoteAddress, subject: name, reason });
    throw error;
  }
  return { status: 201, body: { name } };
}

/** Nobody takes the name of another, configured or enrolled. */
function checkFree({ gates }: EnrolDesk, name: string): void {
  const isTaken = anchorsNow(gates).some((key) => key.name.toLowerCase() === name.toLowerCase());
  if (isTaken) throw new McpxError("id_conflict", "there is an approver of this name");
}

async function readRegistration(
  credential: unknown,
  challenge: string | undefined,
  origin: string,
): Promise<Passkey> {
  const rpId = rpIdOf(origin);
  checkNamed(rpId);
  if (challenge === undefined) throw new McpxError("bad_request", "ask for the options first");
  const { id, response } = isObject(credential) ? credential : {};
  const { clientDataJSON, attestationObject, transports } = isObject(response) ? response : {};
  if (![id, clientDataJSON, attestationObject].every(isBase64Url)) {
    throw new McpxError("bad_request", "credential must be what the browser gave");
  }
  const registration = { id, clientDataJSON, attestationObject } as Record<keyof Registration, string>;
  const { publicKey, counter } = await verify(registration, challenge, origin, rpId);
  return readPasskey({
    credentialId: id,
    publicKey,
    counter,
    rpId,
    origin,
    transports: readTransports(transports),
  });
}

interface Registration {
  id: string;
  clientDataJSON: string;
  attestationObject: string;
}

async function verify(
  { id, clientDataJSON, attestationObject }: Registration,
  challenge: string,
  origin: string,
  rpId: string,
): Promise<JsonObject> {
  const { verifyRegistrationResponse } = await import("@simplewebauthn/server");
  const { decodeCredentialPublicKey } = await import("@simplewebauthn/server/helpers");
  try {
    const { registrationInfo } = await verifyRegistrationResponse({
      response: {
        id,
        rawId: id,
        type: "public-key",
        response: { clientDataJSON, attestationObject },
        clientExtensionResults: {},
      },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    });
    if (registrationInfo?.credential.id !== id) throw new Error("it is another credential");
    const { publicKey, counter } = registrationInfo.credential;
    return { publicKey: jwkOfCose(decodeCredentialPublicKey(publicKey)), counter };
  } catch (error) {
    throw new McpxError("bad_proof", "the passkey's registration does not hold", { cause: error });
  }
}

/** Only hints for the browser. */
function readTransports(value: unknown): string[] {
  const known = Array.isArray(value)
    ? value.filter((one) => typeof one === "string" && one.length <= 32)
    : [];
  return known.slice(0, transportsMax);
}
