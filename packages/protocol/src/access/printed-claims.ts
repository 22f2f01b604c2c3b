// COMPAT: a capability's claims by the names that ADR-003 prints, as ours. Tokens are written with ours; the printed
// names are read beside them, so that no constraint is overlooked for its name. [AC-7-1] [AC-8-7]
import { McpxError } from "../errors.ts";
import { isObject, type JsonObject } from "../json/json-rpc.ts";
import { isTimestamp, timestampMs } from "../time.ts";

export const constraintNames = ["maxUses", "validFrom", "validUntil", "arguments"] as const;

/** Each claim under our name. Two names for one claim, and constraints nobody knows, are `malformed`. */
export function withOurNames(payload: JsonObject): JsonObject {
  const { id, issuer, holderPublicKey, channelId, sessionId, constraints, ...ours } = payload;
  // One connection has one id here: both printed names mean it.
  if (channelId !== undefined && sessionId !== undefined && channelId !== sessionId) {
    throw malformed("channelId and sessionId differ; both are the holder's connection_id");
  }
  return {
    ...ours,
    ...renamed(ours, "jti", "id", id),
    ...renamed(ours, "iss", "issuer", issuer),
    ...renamed(ours, "cnf", "holderPublicKey", holderPublicKey && { jwk: jwkOf(holderPublicKey) }),
    ...renamed(ours, "channel", "channelId", channelId ?? sessionId),
    ...(constraints === undefined ? {} : constraintsIn(constraints, ours)),
  };
}

function renamed(ours: JsonObject, name: string, printed: string, value: unknown): JsonObject {
  if (value === undefined) return {};
  if (ours[name] !== undefined)
    throw malformed(`${name} and ${printed} are the same claim; write one of them`);
  return { [name]: value };
}

/** The printed key is a text: the 32 bytes of an Ed25519 key as base64url. */
function jwkOf(key: unknown): JsonObject {
  return { kty: "OKP", crv: "Ed25519", x: key };
}

/** The later beginning and the earlier end count. [AC-7-3] */
function constraintsIn(constraints: unknown, ours: JsonObject): JsonObject {
  if (!isObject(constraints)) throw malformed("constraints must be an object");
  const strange = Object.keys(constraints).find((name) => !constraintNames.some((known) => known === name));
  if (strange !== undefined) throw malformed(`constraints must be made of ${constraintNames.join(", ")}`);
  const { maxUses, validFrom, validUntil } = constraints;
  const from = secondsIn("validFrom", validFrom, Math.ceil);
  const until = secondsIn("validUntil", validUntil, Math.floor);
  return {
    ...renamed(ours, "maxUses", "constraints.maxUses", maxUses),
    ...renamed(ours, "arguments", "constraints.arguments", constraints.arguments),
    nbf: most(ours.nbf ?? ours.iat, from, Math.max),
    exp: most(ours.exp, until, Math.min),
  };
}

function secondsIn(name: string, time: unknown, round: (seconds: number) => number): number | undefined {
  if (time === undefined) return undefined;
  if (!isTimestamp(time)) throw malformed(`constraints.${name} must be an RFC 3339 time`);
  return round(timestampMs(time) / 1_000);
}

/** What is no number stays what it is, and is refused as that claim. */
function most(ours: unknown, theirs: number | undefined, pick: (a: number, b: number) => number): unknown {
  if (theirs === undefined || (ours !== undefined && typeof ours !== "number")) return ours;
  return ours === undefined ? theirs : pick(ours, theirs);
}

function malformed(detail: string): McpxError {
  return new McpxError("malformed", detail);
}
