// The `_meta` of a request: what a modern client says of itself in it, and what of it belongs to this hop. Pure.
import type { JsonObject } from "@mcpx/protocol";
import { isLogLevel, type LogLevel, metaKeys, modernRevision } from "../mcp/era.ts";
import { isId, isPlain } from "../mcp/message.ts";
import { rpcCodes, rpcError } from "../mcp/rpc-error.ts";

export interface RequestMeta {
  revision: string;
  capabilities: JsonObject;
  info: JsonObject | undefined;
  logLevel: LogLevel | undefined;
}

const hopKeys: ReadonlySet<string> = new Set([...Object.values(metaKeys), "progressToken"]);

export function metaOf({ _meta }: JsonObject): JsonObject | undefined {
  return isPlain(_meta) ? _meta : undefined;
}

/** Whether a message says it is modern. Whether it says so well is another question. */
export function hasClaim(params: JsonObject): boolean {
  return metaOf(params)?.[metaKeys.protocolVersion] !== undefined;
}

export function isModernRevision(revision: string): boolean {
  return revision >= modernRevision;
}

/** Throws -32602, naming the key, where a required one is missing or one is not what it should be. */
export function readRequestMeta(params: JsonObject): RequestMeta {
  const meta = metaOf(params) ?? {};
  const revision = meta[metaKeys.protocolVersion];
  const capabilities = meta[metaKeys.clientCapabilities];
  const info = meta[metaKeys.clientInfo];
  const logLevel = meta[metaKeys.logLevel];
  if (typeof revision !== "string") throw badKey(metaKeys.protocolVersion, revision);
  if (!isPlain(capabilities)) throw badKey(metaKeys.clientCapabilities, capabilities);
  if (info !== undefined && !isPlain(info)) throw badKey(metaKeys.clientInfo, info);
  if (logLevel !== undefined && !isLogLevel(logLevel)) throw badKey(metaKeys.logLevel, logLevel);
  progressTokenOf(params);
  return { revision, capabilities, info, logLevel };
}

/** Throws -32022. */
export function checkRevision(requested: string): void {
  if (requested === modernRevision) return;
  throw rpcError(rpcCodes.unsupportedVersion, "Unsupported protocol version", {
    supported: [modernRevision],
    requested,
  });
}

/** The token progress is asked for with; throws -32602 where it cannot be one. */
export function progressTokenOf(params: JsonObject): unknown {
  const token = metaOf(params)?.progressToken;
  if (token === undefined || isId(token)) return token;
  throw badKey("progressToken", token);
}

/** What goes on: without the keys of this hop, and without routes, which are the tree's to make, never a client's. */
export function withoutHop(params: JsonObject, { hasRoute = false } = {}): JsonObject {
  const meta = metaOf(params);
  if (meta === undefined) return params;
  const { _meta, ...rest } = params;
  const kept = Object.entries(meta).filter(([key]) => !isHopKey(key) || (hasRoute && isRouteKey(key)));
  return kept.length === 0 ? rest : { ...rest, _meta: Object.fromEntries(kept) };
}

function isHopKey(key: string): boolean {
  return hopKeys.has(key) || key.slice(0, 8).toLowerCase() === "x-mcpax-";
}

function isRouteKey(key: string): boolean {
  return key === "x-mcpax-route" || key === "x-mcpax-cursor";
}

function badKey(key: string, value: unknown) {
  const problem = value === undefined ? "missing" : "malformed";
  return rpcError(rpcCodes.invalidParams, `Invalid params: _meta ${key} is ${problem}`, {
    envelope: { key, problem },
  });
}
