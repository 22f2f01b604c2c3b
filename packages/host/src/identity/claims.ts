// The claims of a token whose signature is good: each one checked, nothing guessed. Pure. [X0-5.1-3]
import {
  type AuthScope,
  authScopes,
  isId,
  isLevel,
  isObject,
  isReservedId,
  type JsonObject,
  type Level,
  McpxError,
} from "@mcpx/protocol";
import { isParticipantKind, type ParticipantKind, type PublicJwk } from "../principal.ts";
import { readPublicJwk } from "./public-jwk.ts";

/** What a token grants, of any issuer. */
export interface Grant {
  id: string | undefined;
  topics: readonly string[];
  level: Level | undefined;
  kind: ParticipantKind | undefined;
  name: string | undefined;
  tools: readonly string[];
  segment: string | undefined;
  scope: AuthScope | undefined;
  admin: boolean;
  key: PublicJwk | undefined;
}

export interface TimeRules {
  now: number;
  /** How far in the future a token may end. */
  ttlMsMax: number;
}

const segmentShape = /^[a-z0-9_-]{1,63}$/;
const globsMax = 64;
const globCharsMax = 256;
const nameCharsMax = 128;
const issuedSkewMs = 60_000;
const notBeforeSkewMs = 5_000;

export function badToken(detail: string): McpxError {
  return new McpxError("unauthorised", detail);
}

export function readGrant(payload: JsonObject): Grant {
  const { sub, level, kind, name, segment, admin, cnf } = payload;
  if (sub !== undefined && (!isId(sub) || isReservedId(sub))) throw badToken("sub is not a participant id");
  if (level !== undefined && !isLevel(level)) throw badToken("level is not full, restricted or responder");
  if (kind !== undefined && !isParticipantKind(kind)) throw badToken("kind is not human, agent or robot");
  if (name !== undefined && !isName(name)) throw badToken(`name must be at most ${nameCharsMax} characters`);
  if (segment !== undefined && !isSegment(segment)) {
    throw badToken("segment is not 1 to 63 characters out of a-z 0-9 _ -");
  }
  if (admin !== undefined && typeof admin !== "boolean") throw badToken("admin must be true or false");
  return {
    id: sub,
    topics: readGlobs(payload, "topics"),
    level,
    kind,
    name,
    tools: readGlobs(payload, "tools"),
    segment,
    scope: readScope(payload),
    admin: admin === true,
    key: readKey(cnf),
  };
}

/** Checks the time claims and returns when the token ends, in ms. `exp` has no tolerance at all. */
export function readTimes(payload: JsonObject, { now, ttlMsMax }: TimeRules): number {
  const exp = readTime(payload, "exp");
  const nbf = readTime(payload, "nbf");
  const iat = readTime(payload, "iat");
  if (exp === undefined) throw badToken("exp is missing");
  if (exp <= now) throw new McpxError("token_expired");
  if (exp > now + ttlMsMax) throw badToken("exp is further away than tokens may live here");
  if (nbf !== undefined && nbf > now + notBeforeSkewMs) throw badToken("the token is not valid yet");
  if (iat !== undefined && iat > now + issuedSkewMs) throw badToken("iat lies in the future");
  return exp;
}

/** Exact match only: no case folding, no trailing slash, no prefix. */
export function checkAudience(payload: JsonObject, accepted: readonly string[]): void {
  const { aud } = payload;
  const given: unknown[] = Array.isArray(aud) ? aud : [aud];
  if (!given.some((one) => typeof one === "string" && accepted.includes(one))) {
    throw badToken("the token is for another audience");
  }
}

function readTime(payload: JsonObject, name: "exp" | "nbf" | "iat"): number | undefined {
  const value = payload[name];
  if (value === undefined) return undefined;
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0) {
    throw badToken(`${name} must be a number of seconds`);
  }
  return value * 1_000;
}

function readGlobs(payload: JsonObject, name: "topics" | "tools"): readonly string[] {
  const value = payload[name];
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.length > globsMax || !value.every(isGlob)) {
    throw badToken(`${name} must be at most ${globsMax} strings of at most ${globCharsMax} characters`);
  }
  return value;
}

function isGlob(value: unknown): value is string {
  return typeof value === "string" && value.length > 0 && value.length <= globCharsMax;
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value.length <= nameCharsMax && !/\p{Cc}/u.test(value);
}

function isSegment(value: unknown): value is string {
  return typeof value === "string" && segmentShape.test(value);
}

/** OAuth has the same claim for words of its own: what is none of ours is no fault, and grants nothing. */
function readScope({ scope }: JsonObject): AuthScope | undefined {
  return authScopes.find((known) => known === scope);
}

function readKey(cnf: unknown): PublicJwk | undefined {
  if (cnf === undefined) return undefined;
  const key = isObject(cnf) ? readPublicJwk(cnf.jwk) : undefined;
  // A binding we cannot check must not turn into no binding.
  if (key === undefined) throw badToken("cnf.jwk must be a public Ed25519 or P-256 key");
  return key;
}
