// The tree speaks modern; what of it a legacy client must not see. Pure.
import { type JsonObject, McpxError } from "@mcpx/protocol";
import { type RpcFault, rpcCodes } from "../rpc-error.ts";
import { isPlain } from "./message.ts";

/** Throws `bad_server_answer` for a result that is no end: legacy clients are asked by requests. */
export function legacyResult(result: JsonObject): JsonObject {
  const { resultType, ttlMs, cacheScope, ...rest } = result;
  if (resultType === "input_required") {
    throw new McpxError("bad_server_answer", "the server asked where it should have answered");
  }
  return rest;
}

/** A resource nobody has is -32002 to them. */
export function legacyFault(fault: RpcFault): RpcFault {
  const isUnknown = isPlain(fault.data) && fault.data.reason === "unknown_resource";
  return isUnknown ? { ...fault, code: rpcCodes.resourceNotFound } : fault;
}
