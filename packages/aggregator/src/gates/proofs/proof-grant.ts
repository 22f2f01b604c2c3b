// Whether an approver has signed exactly this grant: with a key, or with a passkey at the console. Never who it is for.
import { hash } from "node:crypto";
import { canonicalJson, type GrantTerms, grantChallenge, grantProofType, grantText } from "@mcpx/protocol";
import type { AnchorKey, SigningKind } from "./anchors.ts";
import { badProof } from "./bad-proof.ts";
import { proveProof } from "./proof-jws.ts";
import { isPasskeyProof, provePresence } from "./proof-passkey.ts";
import { checkOther, type ProofQuestion } from "./proofs.ts";

export interface ProvenGrant {
  /** The approver's name. */
  by: string;
  thumbprint: string;
  proofHash: string;
}

const types = new Map<unknown, SigningKind>([[grantProofType, "key"]]);

/** Throws `bad_proof` or `self_approval`. */
export async function checkGrantProof(
  proof: string,
  terms: GrantTerms,
  keys: readonly AnchorKey[],
  requester: ProofQuestion["requester"],
): Promise<ProvenGrant> {
  const { key, use } = isPasskeyProof(proof)
    ? await provePresence(proof, await grantChallenge(terms), keys)
    : { key: await signerOf(proof, terms, keys), use: undefined };
  checkOther(key, undefined, requester);
  await use?.();
  const { name: by, thumbprint } = key;
  return { by, thumbprint, proofHash: hash("sha256", `${thumbprint}\n${grantText(terms)}`, "base64url") };
}

async function signerOf(proof: string, terms: GrantTerms, keys: readonly AnchorKey[]): Promise<AnchorKey> {
  const { payload, key } = await proveProof(proof, keys, types);
  if (canonicalJson(payload) !== grantText(terms)) throw badProof("it is for another grant");
  return key;
}
