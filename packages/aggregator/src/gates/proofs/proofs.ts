// Whether a proof decides about this very gate: signed by a trust anchor, for this call and no other, in time, and not
// by the one who asks. That it counts once is for the store to see. [AX-11.3-2] [AX-11.3-6]
import { hash } from "node:crypto";
import {
  canonicalJson,
  type Decision,
  decisions,
  type GateTerms,
  isJoint,
  type JsonObject,
  McpxError,
  ownStatement,
  readJointStatement,
  readStatement,
  type Statement,
  statementOf,
  statementText,
} from "@mcpx/protocol";
import { isNamed } from "../../mcp/asker.ts";
import type { AnchorKey, SigningKind } from "./anchors.ts";
import { badProof } from "./bad-proof.ts";
import { proveProof } from "./proof-jws.ts";
import { isPasskeyProof, provePasskey } from "./proof-passkey.ts";

/** Who made the call: neither their name nor their keys decide about it. */
interface Requester {
  principal: string | undefined;
  thumbprints: readonly string[];
}

export interface ProofQuestion {
  requester: Requester;
  /** Ms since 1970. */
  now: number;
}

export interface CheckedProof {
  /** The anchor's name. */
  by: string;
  /** By a bridge's key, for somebody who has pressed a button there: it decides about less. */
  isPress: boolean;
  thumbprint: string;
  /** As it was signed, or what was signed stands for. */
  statement: Statement;
  /** The same for the same statement of the same key, however it was spelled: to be taken once. */
  proofHash: string;
}

const skewMs = 60_000;
const jtiCharsMax = 128;

/** Throws `bad_proof`, `self_approval` or `confirmation_expired`. */
export async function checkProof(
  proof: unknown,
  gate: GateTerms,
  keys: readonly AnchorKey[],
  { requester, now }: ProofQuestion,
): Promise<CheckedProof> {
  const { key, statement, sub, use } = isPasskeyProof(proof)
    ? await provePasskey(proof, gate, keys)
    : await proveSigned(proof, gate, keys, now);
  checkOther(key, sub, requester);
  if (now >= gate.expires_at * 1_000 + skewMs) throw new McpxError("confirmation_expired");
  await use?.();
  const { name: by, thumbprint } = key;
  const proofHash = hash("sha256", `${thumbprint}\n${statementText(statement)}`, "base64url");
  return { by, isPress: key.kind === "bridge", thumbprint, statement, proofHash };
}

/** A proof by a key we have, for this gate. */
export interface Proven {
  key: AnchorKey;
  statement: Statement;
  /** For whom a service speaks. */
  sub?: unknown;
  /** To be called once the proof has passed every check. */
  use?: () => Promise<void>;
}

async function proveSigned(
  proof: unknown,
  gate: GateTerms,
  keys: readonly AnchorKey[],
  now: number,
): Promise<Proven> {
  const { kind, payload, key } = await proveProof(proof, keys);
  return { key, statement: readers[kind](payload, gate, now), sub: payload.sub };
}

const readers = {
  key: readOperators,
  policy: readPolicys,
  service: readServices,
  bridge: readPress,
} as const satisfies Record<SigningKind, (payload: JsonObject, gate: GateTerms, now: number) => Statement>;

/** An operator signs the whole statement. */
function readOperators(payload: JsonObject, gate: GateTerms): Statement {
  const statement = isJoint(payload) ? readOwn(payload, gate) : readStatement(payload);
  const { decision, reason } = statement;
  const expected = statementOf(gate, decision, reason);
  // Those of both: what is signed about a result has more fields than what is signed about its call.
  for (const field of Object.keys({ ...expected, ...statement }) as (keyof Statement)[]) {
    // What is compared is what is signed: the canonical text, so that lists are compared too.
    if (fieldText(statement[field]) !== fieldText(expected[field])) throw foreign(field);
  }
  return statement;
}

/** The same of a press at a bridge: about this one gate, and never about a result, which the platform is not shown. */
function readPress(payload: JsonObject, gate: GateTerms): Statement {
  if (isJoint(payload)) throw badProof("the press of a button can decide about one call only");
  if (gate.phase !== undefined) throw badProof("the press of a button cannot release a result");
  return readOperators(payload, gate);
}

/** One proof for several gates says of each what a proof of its own would say. [AX-11.3-8] */
function readOwn(payload: JsonObject, gate: GateTerms): Statement {
  const own = ownStatement(readJointStatement(payload), gate);
  if (own === undefined) throw foreign("confirmation_id");
  return own;
}

function fieldText(value: unknown): string | undefined {
  return value === undefined ? undefined : canonicalJson(value);
}

/** A policy engine signs the gate's nonce. */
function readPolicys(payload: JsonObject, gate: GateTerms, now: number): Statement {
  checkSame(payload, { ...gate }, ["nonce", "confirmation_id", "arguments_digest"]);
  checkNamed(payload, gate);
  checkPhase(payload, gate);
  checkTimes(payload, now);
  return statementOf(gate, readDecision(payload.decision));
}

/** A service's token is an approval, unless it says otherwise. */
function readServices(payload: JsonObject, gate: GateTerms, now: number): Statement {
  checkSame(payload, { ...gate, aud: gate.aggregator_id }, ["confirmation_id", "arguments_digest", "aud"]);
  checkNamed(payload, gate);
  checkPhase(payload, gate);
  checkTimes(payload, now);
  const { jti, decision } = payload;
  if (typeof jti !== "string" || jti === "" || jti.length > jtiCharsMax) throw badProof("jti is missing");
  return statementOf(gate, decision === undefined ? "approve" : readDecision(decision));
}

/** Letter for letter, and never a list of several. */
function checkSame(payload: JsonObject, expected: JsonObject, fields: readonly string[]): void {
  const other = fields.find(
    (field) => typeof payload[field] !== "string" || payload[field] !== expected[field],
  );
  if (other !== undefined) throw foreign(other);
}

/** For whom the call is made, and to which server, is part of what they decide about. */
function checkNamed(payload: JsonObject, gate: GateTerms): void {
  for (const field of ["version", "asker", "server"] as const) {
    if (fieldText(payload[field]) !== fieldText(gate[field])) throw foreign(field);
  }
}

/** What lets a call go shows nobody its result, and the other way round. */
function checkPhase(payload: JsonObject, { phase, result_digest }: GateTerms): void {
  if (payload.phase !== phase) throw foreign("phase");
  if (payload.result_digest !== result_digest) throw foreign("result_digest");
}

function checkTimes(payload: JsonObject, now: number): void {
  const exp = readSeconds(payload, "exp");
  if (exp === undefined) throw badProof("exp is missing");
  if (exp * 1_000 + skewMs <= now) throw badProof("it has expired");
  for (const name of ["iat", "nbf"] as const) {
    const seconds = readSeconds(payload, name);
    if (seconds !== undefined && seconds * 1_000 - skewMs > now) throw badProof(`${name} lies in the future`);
  }
}

function readSeconds(payload: JsonObject, name: "exp" | "iat" | "nbf"): number | undefined {
  const value = payload[name];
  if (value === undefined) return undefined;
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0) {
    throw badProof(`${name} must be a number of seconds`);
  }
  return value;
}

function readDecision(value: unknown): Decision {
  const decision = decisions.find((known) => known === value);
  if (decision === undefined) throw badProof(`decision must be ${decisions.join(" or ")}`);
  return decision;
}

/** An anchor's key does not help a caller who holds it too. */
export function checkOther({ name, thumbprint }: AnchorKey, sub: unknown, requester: Requester): void {
  const { principal, thumbprints } = requester;
  const isOwnKey = thumbprints.includes(thumbprint);
  const isOwnName = principal !== undefined && [name, sub].some((one) => isNamed(principal, one));
  if (isOwnKey || isOwnName) throw new McpxError("self_approval");
}

function foreign(field: string): McpxError {
  return badProof(`it is for another call: ${field} differs`);
}
