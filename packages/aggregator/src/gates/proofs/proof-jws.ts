// A proof as a signed text (compact JWS): read as it claims to be, then proven with a key we have. What is wrong with
// it is `bad_proof`, and the gate goes on waiting.
import { type JsonObject, scan } from "@mcpx/protocol";
import { compactVerify, errors } from "jose";
import type { AnchorKey, SigningKey, SigningKind } from "./anchors.ts";
import { badProof } from "./bad-proof.ts";
import { isSignedBySecurityKey, securityKeyAlgorithm } from "./security-key.ts";

/** Each kind has a type of its own, so that none passes for another, nor a token for a proof. */
const kindsByType = new Map<unknown, SigningKind>([
  ["mcpx-proof+jwt", "key"],
  ["mcpx-policy+jwt", "policy"],
  ["mcpx-approval+jwt", "service"],
  ["mcpx-press+jwt", "bridge"],
]);

const proofCharsMax = 16_384;
const depthMax = 32;
/** A signature is tried with so many keys at most. */
const candidatesMax = 8;
/** Header members by which a proof would bring its own key or rules. */
const headersRefused = ["jwk", "jku", "x5u", "x5c", "crit", "b64"];

export interface ProvenProof {
  kind: SigningKind;
  payload: JsonObject;
  key: SigningKey;
}

/** `types`: which proofs are taken here. */
export async function proveProof(
  proof: unknown,
  keys: readonly AnchorKey[],
  types: ReadonlyMap<unknown, SigningKind> = kindsByType,
): Promise<ProvenProof> {
  if (typeof proof !== "string" || proof.length > proofCharsMax) {
    throw badProof(`it is not a string of at most ${proofCharsMax} characters`);
  }
  const { header, payload } = decode(proof);
  const refused = headersRefused.find((name) => Object.hasOwn(header, name));
  if (refused !== undefined) throw badProof(`its header may not have ${refused}`);
  const kind = types.get(header.typ);
  if (kind === undefined) throw badProof("it is of another type");
  const candidates = candidatesFor(keys, kind, header, payload);
  const key = await signerOf(proof, candidates);
  if (key === undefined) throw badProof("the signature is not valid");
  return { kind, payload, key };
}

/** What the proof says of itself only chooses among our keys. */
function candidatesFor(
  keys: readonly AnchorKey[],
  kind: SigningKind,
  { alg, kid }: JsonObject,
  { iss }: JsonObject,
): readonly SigningKey[] {
  const candidates = keys.filter(
    (key): key is SigningKey =>
      key.kind === kind &&
      key.alg === alg &&
      (kind !== "service" || key.name === iss) &&
      (kid === undefined || key.kid === kid || key.thumbprint === kid),
  );
  if (candidates.length === 0) throw badProof("its key belongs to no enrolled approver");
  if (candidates.length > candidatesMax) throw badProof("its header must name the key (kid)");
  return candidates;
}

async function signerOf(proof: string, candidates: readonly SigningKey[]): Promise<SigningKey | undefined> {
  for (const key of candidates) {
    if (await isSignedBy(proof, key)) return key;
  }
  return undefined;
}

async function isSignedBy(proof: string, key: SigningKey): Promise<boolean> {
  const { jwk, alg } = key;
  if (alg === securityKeyAlgorithm) {
    const end = proof.lastIndexOf(".");
    const signature = Buffer.from(proof.slice(end + 1), "base64url");
    return isSignedBySecurityKey(proof.slice(0, end), signature, key);
  }
  try {
    await compactVerify(proof, jwk, { algorithms: [alg] });
    return true;
  } catch (error) {
    if (error instanceof errors.JOSEError) return false;
    throw error;
  }
}

function decode(proof: string): { header: JsonObject; payload: JsonObject } {
  const parts = proof.split(".");
  // One proof has one spelling.
  if (parts.length !== 3 || !parts.every(isCanonical)) throw badProof("it is not a compact JWS");
  const [header = "", payload = ""] = parts;
  return { header: parseObject(header), payload: parseObject(payload) };
}

function isCanonical(part: string): boolean {
  return part !== "" && Buffer.from(part, "base64url").toString("base64url") === part;
}

function parseObject(part: string): JsonObject {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(part, "base64url"));
    // Nothing twice: others might read the other one.
    return scan(text, { depthMax }).value;
  } catch {
    throw badProof("it is not readable");
  }
}
