// JSON-RPC errors: a server's own, passed on as they are, and ours in the same shape.
import { errorTable, isMcpxError, type JsonObject, McpxError } from "@mcpx/protocol";

/** What an answer has under `error`. */
export interface RpcFault {
  code: number;
  message: string;
  data?: unknown;
}

/** An error that came over the wire, or is to go over it word for word. */
export class RpcError extends Error {
  readonly fault: RpcFault;

  constructor(fault: RpcFault) {
    super(fault.message);
    this.name = "RpcError";
    this.fault = fault;
  }
}

export const rpcCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** Legacy: a resource nobody has. */
  resourceNotFound: -32002,
  headerMismatch: -32020,
  missingClientCapability: -32021,
  unsupportedVersion: -32022,
  /** 2025-11-25: the caller must first visit an address. */
  urlElicitationRequired: -32042,
} as const;

export function rpcError(code: number, message: string, data?: JsonObject): RpcError {
  return new RpcError({ code, message, ...(data !== undefined && { data }) });
}

/** What a stranger is told: servers' errors untouched, ours with their reason, anything else only as `internal`. */
export function faultOf(thrown: unknown): RpcFault {
  if (thrown instanceof RpcError) return thrown.fault;
  const error = isMcpxError(thrown) ? thrown : new McpxError("internal");
  const { code: reason, detail, suggestion, retryAfterMs, data } = error;
  const { code, message } = errorTable[reason];
  return {
    code,
    message: isShared(code) ? message : error.message,
    data: {
      ...data,
      reason,
      detail,
      suggestion,
      ...(retryAfterMs !== undefined && { retry_after_ms: retryAfterMs }),
    },
  };
}

/** Codes several documents use: their texts are fixed, and tell them apart as the reason does. [AX-11.4-2] */
function isShared(code: number): boolean {
  return code <= -32_001 && code >= -32_003;
}
