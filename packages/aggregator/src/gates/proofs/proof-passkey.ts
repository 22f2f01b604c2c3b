// A proof as a passkey makes it: an assertion over a challenge that is the hash of the statement, made by a human at
// the page of this very gateway. On the wire it is a JSON text, and taken wherever other proofs are. [AX-11.3-2]
import {
  challengeOf,
  type Decision,
  type GateTerms,
  isObject,
  type JsonObject,
  McpxError,
  readStatement,
  statementOf,
} from "@mcpx/protocol";
import type { AnchorKey, PasskeyKey } from "./anchors.ts";
import { badProof } from "./bad-proof.ts";
import { coseOf, isBase64Url } from "./passkey.ts";
import type { Proven } from "./proofs.ts";

/** Everything but the decision is base64url, as browsers give it. */
export interface PasskeyProof {
  type: "webauthn";
  decision: Decision;
  reason?: string | undefined;
  credential_id: string;
  client_data: string;
  authenticator_data: string;
  signature: string;
}

const proofCharsMax = 16_384;
const binaryFields = ["credential_id", "client_data", "authenticator_data", "signature"] as const;

/** No signed text (JWS) begins so. */
export function isPasskeyProof(proof: unknown): proof is string {
  return typeof proof === "string" && proof.startsWith("{");
}

export async function provePasskey(
  text: string,
  gate: GateTerms,
  keys: readonly AnchorKey[],
): Promise<Proven> {
  const proof = readProof(text);
  const key = keyFor(proof, keys);
  const statement = readStatement(statementOf(gate, proof.decision, proof.reason));
  return { key, statement, use: await proveAssertion(proof, key, await challengeOf(statement)) };
}

/** Verifies that the owner of an enrolled passkey wants this; returns the key, and how to record its use. */
export async function provePresence(
  text: string,
  challenge: string,
  keys: readonly AnchorKey[],
): Promise<Pick<Proven, "key" | "use">> {
  const proof = readProof(text);
  const key = keyFor(proof, keys);
  return { key, use: await proveAssertion(proof, key, challenge) };
}

function keyFor({ credential_id }: PasskeyProof, keys: readonly AnchorKey[]): PasskeyKey {
  const [key, another] = keys.filter(
    (one): one is PasskeyKey => one.kind === "passkey" && one.passkey.credentialId === credential_id,
  );
  if (key === undefined) throw badProof("its key belongs to no enrolled approver");
  if (another !== undefined) throw badProof("two approvers have a passkey with this id");
  return key;
}

async function proveAssertion(
  proof: PasskeyProof,
  key: PasskeyKey,
  challenge: string,
): Promise<() => Promise<void>> {
  checkClientData(proof.client_data, key, challenge);
  const counter = await verify(proof, key, challenge);
  return () => key.use(counter);
}

function readProof(text: string): PasskeyProof {
  if (text.length > proofCharsMax)
    throw badProof(`it is not a string of at most ${proofCharsMax} characters`);
  const proof = parseObject(text);
  if (proof.type !== "webauthn") throw badProof("it is of another type");
  const wrong = binaryFields.find((field) => !isBase64Url(proof[field]));
  if (wrong !== undefined) throw badProof(`${wrong} must be base64url`);
  // Decision and reason are looked at with the statement they make.
  return proof as unknown as PasskeyProof;
}

/** Said in our own words, because these are what goes wrong: signed for something else, or somewhere else. */
function checkClientData(clientData: string, { passkey }: PasskeyKey, challenge: string): void {
  const data = parseObject(Buffer.from(clientData, "base64url").toString());
  if (data.challenge !== challenge) throw badProof("it is for another call or another decision");
  if (data.origin !== passkey.origin) throw badProof("it was made at another address");
  // Our page is never shown inside another.
  if (data.crossOrigin !== undefined && data.crossOrigin !== false) {
    throw badProof("it was made inside another page");
  }
}

/** The passkey's own count of its uses. Loaded late: who has no passkeys does without. */
async function verify(proof: PasskeyProof, { passkey }: PasskeyKey, challenge: string): Promise<number> {
  const { verifyAuthenticationResponse } = await import("@simplewebauthn/server");
  const { credentialId: id, publicKey, counter, rpId, origin } = passkey;
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        id,
        rawId: id,
        type: "public-key",
        response: {
          clientDataJSON: proof.client_data,
          authenticatorData: proof.authenticator_data,
          signature: proof.signature,
        },
        clientExtensionResults: {},
      },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      credential: { id, publicKey: coseOf(publicKey), counter },
      requireUserVerification: true,
    });
    if (verified) return authenticationInfo.newCounter;
  } catch (error) {
    throw new McpxError("bad_proof", "the passkey's assertion is not valid", { cause: error });
  }
  throw badProof("the signature is not valid");
}

function parseObject(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw badProof("it is not readable");
  }
  if (!isObject(value)) throw badProof("it is not readable");
  return value;
}
