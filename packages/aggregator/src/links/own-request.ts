// Requests of the link itself: nobody waits for progress or can be asked.
import type { JsonObject } from "@mcpx/protocol";
import { rpcCodes, rpcError } from "../mcp/rpc-error.ts";
import type { LinkRequest } from "./link.ts";

const nobody = () => Promise.reject(rpcError(rpcCodes.methodNotFound, "This client cannot be asked"));

export function isOwn(request: LinkRequest): boolean {
  return request.ask === nobody;
}

export function ownRequest(method: string, signal: AbortSignal, params: JsonObject = {}): LinkRequest {
  return {
    method,
    params,
    capabilities: {},
    info: undefined,
    logLevel: undefined,
    wantsProgress: false,
    paramHeaders: {},
    signal,
    notify() {},
    ask: nobody,
  };
}
