// A capability: who may use which tools of whom, how often, with which arguments, until when. It is bound to its
// holder's key, so seeing it is worth nothing. [AC-7-1] [AC-8-1]
import { McpxError } from "../errors.ts";
import { isObject, type JsonObject } from "../json/json-rpc.ts";
import { isId } from "../names.ts";
import { type AccessKey, type Ed25519Jwk, readEd25519Jwk } from "./access-key.ts";
import { type CompactJws, readCompact, signCompact } from "./compact-jws.ts";
import { withOurNames } from "./printed-claims.ts";

export const capabilityType = "mcpx-capability+jwt";

/** Tools by name, or all of them. */
export type ToolSet = readonly string[] | "*";

export interface CapabilityClaims {
  jti: string;
  /** Whose tools they are; of a delegated one, who delegated it. */
  iss: string;
  holder: string;
  topic: string;
  cnf: { jwk: Ed25519Jwk };
  tools: ToolSet;
  /** Seconds since 1970. */
  iat: number;
  nbf: number;
  exp: number;
  /** [AC-7-2] */
  maxUses?: number;
  /** A JSON Schema. [AC-7-4] */
  arguments?: JsonObject;
  /** The holder's `connection_id`: it ends with that connection. [AC-8-7] */
  channel?: string;
  /** How many times it may be passed on; 0 where absent. */
  delegations?: number;
  /** The one it was made from. [AC-9-2] */
  parent?: string;
}

export interface CapabilityToken {
  readonly text: string;
  readonly claims: CapabilityClaims;
  readonly jws: CompactJws;
}

const tokenCharsMax = 16_384;
export const delegationsMax = 3;
export const toolsMax = 256;
const toolCharsMax = 255;
const usesMax = 1_000_000_000;

export async function signCapability(key: AccessKey, claims: CapabilityClaims): Promise<string> {
  const text = await signCompact(key, capabilityType, JSON.stringify(claims));
  // A capability that no owner would accept is not issued.
  readCapabilityToken(text);
  return text;
}

/** Every claim, or `malformed` with what is wrong. Says nothing of who has signed it. */
export function readCapabilityToken(text: unknown): CapabilityToken {
  if (typeof text !== "string" || text.length > tokenCharsMax) {
    throw malformed(`a capability is a string of at most ${tokenCharsMax} characters`);
  }
  const jws = readCompact(text, capabilityType);
  if (jws === undefined) throw malformed(`a capability is a compact JWS, EdDSA, ${capabilityType}`);
  return { text, claims: readClaims(withOurNames(jws.payload)), jws };
}

/** [AC-1-8] */
export function readTools(value: unknown): ToolSet | undefined {
  if (value === "*") return value;
  if (!Array.isArray(value) || value.length === 0 || value.length > toolsMax) return undefined;
  return value.every(isToolName) ? [...new Set<string>(value)] : undefined;
}

export function coversTool(tools: ToolSet, tool: string): boolean {
  return tools === "*" || tools.includes(tool);
}

function readClaims(payload: JsonObject): CapabilityClaims {
  const { cnf, delegations, maxUses, channel, parent } = payload;
  const jwk = readEd25519Jwk(isObject(cnf) ? cnf.jwk : undefined);
  const tools = readTools(payload.tools);
  if (jwk === undefined) throw malformed("cnf.jwk must be a public Ed25519 key");
  if (tools === undefined) throw malformed(`tools must be "*" or 1 to ${toolsMax} names`);
  const schema = payload.arguments;
  if (schema !== undefined && !isObject(schema)) throw malformed("arguments must be a JSON Schema");
  if (parent !== undefined && typeof parent !== "string") throw malformed("parent must be a capability");
  return {
    jti: idIn(payload, "jti"),
    iss: idIn(payload, "iss"),
    holder: idIn(payload, "holder"),
    topic: idIn(payload, "topic"),
    cnf: { jwk },
    tools,
    iat: countIn(payload, "iat"),
    nbf: countIn(payload, "nbf"),
    exp: countIn(payload, "exp"),
    ...(maxUses === undefined ? {} : { maxUses: usesIn(payload) }),
    ...(schema === undefined ? {} : { arguments: schema }),
    ...(channel === undefined ? {} : { channel: idIn(payload, "channel") }),
    ...(delegations === undefined ? {} : { delegations: countIn(payload, "delegations") }),
    ...(parent === undefined ? {} : { parent }),
  };
}

function idIn(payload: JsonObject, name: string): string {
  const value = payload[name];
  if (!isId(value)) throw malformed(`${name} must be an id`);
  return value;
}

function countIn(payload: JsonObject, name: string): number {
  const value = payload[name];
  if (!Number.isSafeInteger(value) || (value as number) < 0)
    throw malformed(`${name} must be a whole number`);
  return value as number;
}

function usesIn(payload: JsonObject): number {
  const uses = countIn(payload, "maxUses");
  if (uses < 1 || uses > usesMax) throw malformed(`maxUses must be 1 to ${usesMax}`);
  return uses;
}

function isToolName(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= toolCharsMax && value.isWellFormed();
}

function malformed(detail: string): McpxError {
  return new McpxError("malformed", detail);
}
