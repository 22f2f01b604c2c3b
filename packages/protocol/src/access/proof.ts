// Each use of a capability proves that its holder makes it, here, now, for exactly this call. The signed text is made
// anew from what the verifier sees, so nothing in it can be believed by mistake. [AC-8-1] [AC-8-5]

import { McpxError } from "../errors.ts";
import { canonicalJson, digestOf } from "../json/canonical-json.ts";
import { isObject, type JsonObject } from "../json/json-rpc.ts";
import { isTimestamp } from "../time.ts";
import type { AccessKey, Ed25519Jwk } from "./access-key.ts";
import { isDetachedBy, signDetached } from "./compact-jws.ts";

export const proofType = "mcpx-call+jws";
/** How far a proof's time may be from ours. [AC-8-2] */
export const proofSkewMs = 60_000;

/** What the holder means to do. */
export interface ProvenCall {
  /** The `jti` of the capability. */
  capability: string;
  tool: string;
  arguments: unknown;
  topic: string;
  /** The owner of the tool. */
  target: string;
  /** The JSON-RPC id, or the id of the proposal. */
  request: string | number;
  /** The holder's connection, where the capability is bound to one. */
  channel?: string | undefined;
}

export interface CallProof {
  /** RFC 3339. */
  timestamp: string;
  nonce: string;
  /** A JWS without its payload. */
  signature: string;
}

const nonceShape = /^[A-Za-z0-9_-]{16,128}$/;
const signatureCharsMax = 512;

export async function signProof(
  key: AccessKey,
  call: ProvenCall,
  { timestamp, nonce }: Pick<CallProof, "timestamp" | "nonce">,
): Promise<CallProof & JsonObject> {
  const text = await provenText(call, { timestamp, nonce });
  return { timestamp, nonce, signature: await signDetached(key, proofType, text) };
}

/** The proof as it came, or `proof_missing`, `proof_invalid`. */
export function readProof(value: unknown): CallProof {
  if (value === undefined) throw new McpxError("proof_missing", "the call has a capability and no proof");
  const { timestamp, nonce, signature } = isObject(value) ? value : {};
  if (!isTimestamp(timestamp)) throw invalid("timestamp must be an RFC 3339 time");
  if (typeof nonce !== "string" || !nonceShape.test(nonce)) {
    throw invalid("nonce must be 16 to 128 characters of base64url");
  }
  if (typeof signature !== "string" || signature.length > signatureCharsMax) {
    throw invalid("signature must be a JWS without its payload");
  }
  return { timestamp, nonce, signature };
}

/** Throws `proof_invalid` where the holder has not signed this very call. */
export async function checkProof(key: Ed25519Jwk, proof: CallProof, call: ProvenCall): Promise<void> {
  const text = await provenText(call, proof);
  if (await isDetachedBy(key, proofType, text, proof.signature)) return;
  throw invalid("it is not the holder's signature of this call");
}

async function provenText(
  call: ProvenCall,
  { timestamp, nonce }: Pick<CallProof, "timestamp" | "nonce">,
): Promise<string> {
  const { capability, tool, topic, target, request, channel } = call;
  return canonicalJson({
    capability,
    tool,
    arguments: await digestOf(call.arguments),
    topic,
    target,
    request,
    timestamp,
    nonce,
    ...(channel === undefined ? {} : { channel }),
  });
}

function invalid(detail: string): McpxError {
  return new McpxError("proof_invalid", detail);
}
