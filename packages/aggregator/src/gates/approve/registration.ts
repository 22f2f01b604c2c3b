// A new passkey: what the browser is asked to make, and whether what it made holds.
import { randomBytes } from "node:crypto";
import { isObject, type JsonObject, McpxError } from "@mcpx/protocol";
import { isBase64Url, jwkOfCose, type Passkey, readPasskey } from "../proofs/passkey.ts";
import { checkNamed, rpIdOf } from "./where.ts";

/** Ed25519, P-256, and RSA where a platform has nothing else. */
const algorithms = [-8, -7, -257];
const promptMs = 300_000;
const transportsMax = 10;

/** `isFound`: it has to be there for a person who has not said who they are. */
export function creationOptions(
  name: string,
  origin: string,
  { isFound = false }: { isFound?: boolean } = {},
): JsonObject & { challenge: string } {
  const rpId = rpIdOf(origin);
  checkNamed(rpId);
  return {
    challenge: randomBytes(32).toString("base64url"),
    rp: { id: rpId, name: "mcpx" },
    user: { id: randomBytes(32).toString("base64url"), name, displayName: name },
    pubKeyCredParams: algorithms.map((alg) => ({ alg, type: "public-key" })),
    timeout: promptMs,
    attestation: "none",
    authenticatorSelection: {
      userVerification: "required",
      residentKey: isFound ? "required" : "preferred",
    },
  };
}

export async function readRegistration(
  credential: unknown,
  challenge: string | undefined,
  origin: string,
): Promise<Passkey> {
  const rpId = rpIdOf(origin);
  checkNamed(rpId);
  if (challenge === undefined) throw new McpxError("bad_request", "request the registration options first");
  const { id, response } = isObject(credential) ? credential : {};
  const { clientDataJSON, attestationObject, transports } = isObject(response) ? response : {};
  if (![id, clientDataJSON, attestationObject].every(isBase64Url)) {
    throw new McpxError("bad_request", "credential must be the object that the browser returned");
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
    if (registrationInfo?.credential.id !== id)
      throw new Error("the attestation names another credential id");
    const { publicKey, counter } = registrationInfo.credential;
    return { publicKey: jwkOfCose(decodeCredentialPublicKey(publicKey)), counter };
  } catch (error) {
    throw new McpxError("bad_proof", "the passkey's registration is not valid", { cause: error });
  }
}

/** Only hints for the browser. */
function readTransports(value: unknown): string[] {
  const known = Array.isArray(value)
    ? value.filter((one) => typeof one === "string" && one.length <= 32)
    : [];
  return known.slice(0, transportsMax);
}
