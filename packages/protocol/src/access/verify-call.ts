// Whether a call may be made with the capability it carries: read top to bottom, it is every reason for a no that needs
// no store. Owner and gateway ask it alike. Time is given. [AC-5-1] [AC-5-2] [AC-5-3] [AC-5-4] [AC-5-6]
import { McpxError } from "../errors.ts";
import { timestampMs } from "../time.ts";
import { type Ed25519Jwk, isSameKey } from "./access-key.ts";
import { refusalOf } from "./argument-schema.ts";
import { type CapabilityClaims, type CapabilityToken, coversTool } from "./capability-token.ts";
import { readChain } from "./delegation.ts";
import { checkProof, proofSkewMs, readProof } from "./proof.ts";

/** Why arguments do not fit a schema; `undefined` where they do. */
export type ArgumentJudge = (
  schema: Readonly<Record<string, unknown>>,
  args: unknown,
) => string | undefined | Promise<string | undefined>;

export interface PresentedCall {
  capability: unknown;
  proof: unknown;
  /** Who must hold it, and the key the gateway shows beside that name. */
  holder: string;
  holderKey: Ed25519Jwk | undefined;
  owner: string;
  tool: string;
  arguments: unknown;
  topic: string;
  /** The JSON-RPC id, or the id of the proposal. */
  request: string | number;
}

export interface Verification {
  ownerKey: Ed25519Jwk;
  nowMs: number;
  /** When the proof should have been made: now, or when its proposal was. */
  provenAtMs: number;
  /** How far the owner's clock may be from ours; 0 for the owner. */
  skewMs: number;
  /** The connection a capability is used over; `undefined` where it is not known or another. */
  channelOf(claims: CapabilityClaims): string | undefined;
  judgeArguments?: ArgumentJudge | undefined;
  verified: VerifiedTokens;
}

export interface VerifiedUse {
  /** The capability and those it was made from, the owner's last. */
  chain: readonly CapabilityClaims[];
  /** Unique for this use among all that this key proves. */
  nonce: string;
}

const rememberedMax = 1_024;

/** Chains whose signatures were found good: they stay so, and checking them costs more than all the rest. */
export class VerifiedTokens {
  readonly #chains = new Map<string, readonly CapabilityToken[]>();

  get(key: string): readonly CapabilityToken[] | undefined {
    return this.#chains.get(key);
  }

  set(key: string, chain: readonly CapabilityToken[]): void {
    const [oldest] = this.#chains.keys();
    if (this.#chains.size >= rememberedMax && oldest !== undefined) this.#chains.delete(oldest);
    this.#chains.set(key, chain);
  }
}

export async function verifyCall(call: PresentedCall, verification: Verification): Promise<VerifiedUse> {
  const { holder, holderKey, tool, topic, owner, request } = call;
  if (call.capability === undefined) {
    throw new McpxError("missing", `${owner} wants a capability for ${tool.slice(0, 64)}`);
  }
  const chain = await verifyChain(call.capability, owner, verification);
  const { claims } = chain[0] as CapabilityToken;
  if (claims.topic !== topic) throw new McpxError("wrong_topic", "the capability is for another room");
  checkTimes(chain, verification);
  if (claims.holder !== holder) throw new McpxError("wrong_holder", "the capability is somebody else's");
  // A new key ends what was bound to the old one. [AC-9-9]
  if (!isSameKey(holderKey, claims.cnf.jwk)) {
    throw new McpxError("wrong_holder", `${holder} has another key than the capability is bound to`);
  }
  if (claims.channel !== undefined && verification.channelOf(claims) !== claims.channel) {
    throw new McpxError("wrong_channel", "the capability was for a connection that has ended");
  }
  if (!coversTool(claims.tools, tool)) {
    throw new McpxError("tool_not_covered", `the capability does not cover ${tool.slice(0, 64)}`);
  }
  const proof = readProof(call.proof);
  if (Math.abs(timestampMs(proof.timestamp) - verification.provenAtMs) > proofSkewMs) {
    throw new McpxError("proof_invalid", `its time is more than ${proofSkewMs / 1_000} s from the time here`);
  }
  const { jti: capability, channel } = claims;
  const proven = { capability, tool, arguments: call.arguments, topic, target: owner, request, channel };
  await checkProof(claims.cnf.jwk, proof, proven);
  // Last, since it costs most: only the holder makes anybody judge.
  await checkArguments(chain, call.arguments, verification.judgeArguments ?? refusalOf);
  return { chain: chain.map((token) => token.claims), nonce: `${claims.cnf.jwk.x}.${proof.nonce}` };
}

/** The chain with every signature checked: the owner's by its key, each other by the holder it was made by. */
async function verifyChain(
  text: unknown,
  owner: string,
  { ownerKey, verified }: Verification,
): Promise<readonly CapabilityToken[]> {
  if (typeof text !== "string") throw new McpxError("malformed", "a capability is a string");
  const name = `${ownerKey.x}.${owner}.${text}`;
  const known = verified.get(name);
  if (known !== undefined) return known;
  const chain = readChain(text);
  if (chain.at(-1)?.claims.iss !== owner) {
    throw new McpxError("wrong_issuer", `only ${owner} gives capabilities for its tools`);
  }
  for (const [at, { jws }] of chain.entries()) {
    const key = chain[at + 1]?.claims.cnf.jwk ?? ownerKey;
    if (!(await jws.isSignedBy(key))) {
      throw new McpxError("bad_signature", "the capability is not signed by who is said to have made it");
    }
  }
  verified.set(name, chain);
  return chain;
}

/** [AC-7-3] */
function checkTimes(chain: readonly CapabilityToken[], { nowMs, skewMs }: Verification): void {
  for (const { claims } of chain) {
    if (nowMs - skewMs >= claims.exp * 1_000) throw new McpxError("expired", "the capability has expired");
    if (nowMs + skewMs < claims.nbf * 1_000) {
      throw new McpxError(
        "not_yet_valid",
        `the capability begins at ${new Date(claims.nbf * 1_000).toISOString()}`,
      );
    }
  }
}

async function checkArguments(
  chain: readonly CapabilityToken[],
  args: unknown,
  judge: ArgumentJudge,
): Promise<void> {
  for (const { claims } of chain) {
    const refusal = claims.arguments === undefined ? undefined : await judge(claims.arguments, args);
    if (refusal !== undefined) throw new McpxError("arguments_refused", refusal.slice(0, 256));
  }
}
