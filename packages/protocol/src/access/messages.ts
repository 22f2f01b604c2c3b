// What is said about capabilities: asking for one, giving it, taking it back. Shapes only. [AC-2-1] [AC-3-2] [AC-9-7]
import { errorTable, McpxError, type Reason } from "../errors.ts";
import { isObject, type JsonObject } from "../json/json-rpc.ts";
import { isId } from "../names.ts";
import { roomMethods } from "../room-methods.ts";
import { isTimestamp, timestampMs } from "../time.ts";
import { readTools, type ToolSet, toolsMax } from "./capability-token.ts";
import { constraintNames } from "./printed-claims.ts";

export const capabilityMethods = {
  request: roomMethods.requestCapability,
  approve: roomMethods.approveCapability,
} as const;

export const policyType = "tool_access_policy";
export const revocationType = "capability_revoked";
/** What a tool in a listing needs, in its `_meta`. [AC-9-1] */
export const accessMetaKey = "org.mcpx/access";

export interface CapabilityConstraints {
  maxUses?: number;
  /** Ms since 1970. */
  validFromMs?: number;
  validUntilMs?: number;
  arguments?: JsonObject;
}

export interface CapabilityRequest {
  tools: ToolSet;
  /** In seconds. [AC-2-2] */
  duration?: number;
  reason?: string;
  constraints: CapabilityConstraints;
  /** The `jti` of the capability this one is to take the place of. [AC-9-8] */
  refresh?: string;
  /** The asker's `connection_id`, for one that ends with it. */
  channel?: string;
  /** How many times it may be passed on. */
  delegations?: number;
  /** An X25519 public key; the grant comes encrypted to it. [AC-8-6] */
  encryptTo?: JsonObject;
}

export interface CapabilityGrant extends JsonObject {
  token: string;
  tools: ToolSet;
  /** RFC 3339. */
  expires: string;
  /** That of the token. */
  signature?: string;
  encrypted?: true;
}

export const revokedIdsMax = 256;
const reasonCharsMax = 1_000;
/** For notices that do not say how long: longer than what is granted without a human's explicit yes. */
const revokedDefaultMs = 30 * 86_400_000;
const secondsMax = 10 * 366 * 86_400;

/** Every parameter, or `bad_params` with the one that is wrong. */
export function readCapabilityRequest(params: JsonObject): CapabilityRequest {
  const tools = readTools(params.tools);
  if (tools === undefined) throw bad("tools", `* or 1 to ${toolsMax} names`);
  const { duration, reason, refresh, delegations, encrypt_to: encryptTo } = params;
  const channel = readChannel(params);
  if (duration !== undefined && !isCount(duration, secondsMax)) throw bad("duration", "whole seconds");
  if (reason !== undefined && (typeof reason !== "string" || reason.length > reasonCharsMax)) {
    throw bad("reason", `a string of at most ${reasonCharsMax} characters`);
  }
  if (refresh !== undefined && !isId(refresh)) throw bad("refresh", "the id of a capability");
  if (delegations !== undefined && !isCount(delegations, 100)) throw bad("delegations", "a small number");
  if (encryptTo !== undefined && !isObject(encryptTo)) throw bad("encrypt_to", "a public X25519 key as JWK");
  return {
    tools,
    constraints: readConstraints(params.constraints),
    ...(duration === undefined ? {} : { duration }),
    ...(reason === undefined ? {} : { reason }),
    ...(refresh === undefined ? {} : { refresh }),
    ...(channel === undefined ? {} : { channel }),
    ...(delegations === undefined ? {} : { delegations }),
    ...(encryptTo === undefined ? {} : { encryptTo }),
  };
}

/** COMPAT: `channelId`, as it is printed, is read beside ours. [AC-8-7] */
function readChannel({ channel, channelId }: JsonObject): string | undefined {
  const [name, id] = channel === undefined ? ["channelId", channelId] : ["channel", channel];
  if (id !== undefined && !isId(id)) throw bad(name as string, "your connection_id");
  if (channel !== undefined && channelId !== undefined && channel !== channelId) {
    throw bad("channelId", "the same as channel");
  }
  return id as string | undefined;
}

function readConstraints(value: unknown): CapabilityConstraints {
  if (value === undefined) return {};
  if (!isObject(value)) throw bad("constraints", "an object");
  // A constraint that is not understood would be one that nobody keeps.
  if (Object.keys(value).some((name) => !constraintNames.some((known) => known === name))) {
    throw bad("constraints", `made of ${constraintNames.join(", ")}`);
  }
  const { maxUses, validFrom, validUntil } = value;
  if (maxUses !== undefined && !isCount(maxUses, 1_000_000_000))
    throw bad("constraints.maxUses", "1 or more");
  for (const [name, time] of Object.entries({ validFrom, validUntil })) {
    if (time !== undefined && !isTimestamp(time)) throw bad(`constraints.${name}`, "an RFC 3339 time");
  }
  if (value.arguments !== undefined && !isObject(value.arguments)) {
    throw bad("constraints.arguments", "a JSON Schema");
  }
  return {
    ...(maxUses === undefined ? {} : { maxUses }),
    ...(validFrom === undefined ? {} : { validFromMs: timestampMs(validFrom as string) }),
    ...(validUntil === undefined ? {} : { validUntilMs: timestampMs(validUntil as string) }),
    ...(value.arguments === undefined ? {} : { arguments: value.arguments as JsonObject }),
  };
}

/** `until`: when the last of them is over, so that nobody has to remember them for longer. */
export function revocationNotice(ids: readonly string[], untilMs: number): JsonObject {
  return { type: revocationType, ids: [...ids], until: new Date(untilMs).toISOString() };
}

/** The ids a notice names and how long they have to be remembered, or `bad_system`. */
export function readRevocation(
  { ids, until }: JsonObject,
  nowMs: number,
): { ids: readonly string[]; untilMs: number } {
  const isList = Array.isArray(ids) && ids.length > 0 && ids.length <= revokedIdsMax;
  if (!isList || !ids.every((id) => isId(id))) {
    throw new McpxError("bad_system", `payload.ids must be 1 to ${revokedIdsMax} ids of capabilities`);
  }
  if (until !== undefined && !isTimestamp(until)) {
    throw new McpxError("bad_system", "payload.until must be an RFC 3339 time");
  }
  const givenMs = until === undefined ? nowMs + revokedDefaultMs : timestampMs(until);
  return { ids, untilMs: Math.min(givenMs, nowMs + secondsMax * 1_000) };
}

/** What a call carries, in `params` or in `params._meta`. [AC-4-1] [AC-8-5] */
export interface CarriedCapability {
  capability: unknown;
  proof: unknown;
}

export function carriedIn(params: JsonObject): { own: CarriedCapability; meta: CarriedCapability } {
  const { capability, proof } = params;
  const meta = isObject(params._meta) ? params._meta : {};
  return { own: { capability, proof }, meta: { capability: meta.capability, proof: meta.proof } };
}

/** The call as the tool is to see it: what it was allowed by is nobody's business any more. */
export function withoutCarried(params: JsonObject): JsonObject {
  const { capability: _c, proof: _p, ...rest } = params;
  if (!isObject(rest._meta)) return rest;
  const { capability: _mc, proof: _mp, ...meta } = rest._meta;
  return { ...rest, _meta: meta };
}

/** Whether a refusal is about a capability: -32003, save for budgets. */
export function isAccessReason(reason: Reason): boolean {
  return errorTable[reason].code === -32003 && reason !== "budget_exceeded";
}

function isCount(value: unknown, max: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= max;
}

function bad(field: string, wanted: string): McpxError {
  return new McpxError("bad_params", `params.${field} must be ${wanted}`);
}
