// The tree speaks modern; what of it a legacy client must not see. Pure.
import { type JsonObject, McpxError } from "@mcpx/protocol";
import { metaKeys } from "../mcp/era.ts";
import { isPlain } from "../mcp/message.ts";
import { type RpcFault, rpcCodes } from "../mcp/rpc-error.ts";

/** Throws `bad_server_answer` for a result that is no end: legacy clients are asked by requests. */
export function legacyResult(result: JsonObject): JsonObject {
  const { resultType, ttlMs, cacheScope, ...rest } = result;
  if (resultType === "input_required") {
    throw new McpxError(
      "bad_server_answer",
      "the server asked for input where this method allows only a result",
    );
  }
  const { _meta } = rest;
  // Who answers is said once, at the beginning.
  if (!isPlain(_meta) || _meta[metaKeys.serverInfo] === undefined) return rest;
  const { [metaKeys.serverInfo]: _, ...meta } = _meta;
  const { _meta: __, ...bare } = rest;
  return Object.keys(meta).length === 0 ? bare : { ...bare, _meta: meta };
}

/** A resource nobody has is -32002 to them. */
export function legacyFault(fault: RpcFault): RpcFault {
  const isUnknown = isPlain(fault.data) && fault.data.reason === "unknown_resource";
  return isUnknown ? { ...fault, code: rpcCodes.resourceNotFound } : fault;
}
