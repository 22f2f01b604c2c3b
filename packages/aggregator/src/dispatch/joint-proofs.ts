// Proofs that name several gates, on their way down: the tree above sends them with the call it has let go, and each
// gate below finds its own part in them. Only the tree above is believed. [AX-11.3-8]
import { isJoint, isObject, type JsonObject, parseExact } from "@mcpx/protocol";
import type { Gate } from "../gates/store/gate-store.ts";
import type { Caller } from "../mcp/exchange.ts";

const proofsKey = "x-mcpax-proofs";
const proofsMax = 16;
const proofCharsMax = 16_384;

/** Entries that cannot be proofs are left out: the call waits at its gate as it would without them. */
export function readProofs({ _meta }: JsonObject): readonly string[] {
  const told = isObject(_meta) ? _meta[proofsKey] : undefined;
  if (!Array.isArray(told) || told.length > proofsMax) return [];
  return told.filter((proof) => typeof proof === "string" && proof.length <= proofCharsMax);
}

/** For a tree below. */
export function withProofs(params: JsonObject, { proofs = [] }: Caller): JsonObject {
  if (proofs.length === 0) return params;
  return { ...params, _meta: { ...(isObject(params._meta) && params._meta), [proofsKey]: proofs } };
}

/** Those that let this call go and name gates below. A proof for this gate alone is of no use there. */
export function proofsBelow({ below, approvals }: Gate): readonly string[] {
  if (below === undefined) return [];
  return approvals
    .map(({ proof }) => proof)
    .filter(isJointProof)
    .slice(0, proofsMax);
}

/** It was proven before: only what it is about is read. */
function isJointProof(proof: string): boolean {
  const [, payload] = proof.split(".");
  if (payload === undefined) return false;
  const value = parseExact(Buffer.from(payload, "base64url").toString());
  return isObject(value) && isJoint(value);
}
