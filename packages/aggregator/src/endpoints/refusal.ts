// Refusals over HTTP: a JSON-RPC error with the status that fits it.
import type { HttpResponse } from "@mcpx/host";
import { errorTable, isMcpxError, type JsonObject, McpxError } from "@mcpx/protocol";
import { errorMessage, type RequestId, textOf } from "../mcp/message.ts";
import { faultOf, RpcError, rpcCodes } from "../mcp/rpc-error.ts";

/** A refusal whose status is not that of its error. */
export class Refusal extends Error {
  readonly status: number;
  readonly headers: Record<string, string>;

  constructor(status: number, cause: McpxError | RpcError, headers: Record<string, string> = {}) {
    super(cause.message, { cause });
    this.name = "Refusal";
    this.status = status;
    this.headers = headers;
  }
}

export function refuse(status: number, detail: string, headers?: Record<string, string>): Refusal {
  return new Refusal(status, new McpxError("bad_request", detail), headers);
}

/** What a stranger gets for what was thrown before the tree had a say. */
export function refusalResponse(thrown: unknown, id: RequestId | null): HttpResponse {
  const error = thrown instanceof Refusal ? thrown.cause : thrown;
  const { status, headers } = thrown instanceof Refusal ? thrown : { status: statusOf(thrown), headers: {} };
  return jsonResponse(errorMessage(id, faultOf(error)), status, {
    ...headers,
    ...retryHeader(error, status),
  });
}

/** The status of an error the tree gave: the answer is the answer, but for what HTTP itself must tell. */
export function answerStatus(method: string, code: number): number {
  if (code === rpcCodes.missingClientCapability || code === rpcCodes.headerMismatch) return 400;
  // An unknown tool has the same code, but the method is known. [AX-5.2-2]
  return code === rpcCodes.methodNotFound && method !== "tools/call" ? 404 : 200;
}

const json = { "content-type": "application/json" };

export function jsonResponse(
  message: JsonObject | JsonObject[],
  status = 200,
  headers?: Record<string, string>,
): HttpResponse {
  return {
    status,
    text: textOf(message),
    headers: headers === undefined ? json : { ...json, ...headers },
  };
}

function statusOf(thrown: unknown): number {
  if (thrown instanceof RpcError) return thrown.fault.code === rpcCodes.methodNotFound ? 404 : 400;
  return errorTable[isMcpxError(thrown) ? thrown.code : "internal"].http;
}

function retryHeader(error: unknown, status: number): Record<string, string> {
  if (status !== 429 && status !== 503) return {};
  const ms = (isMcpxError(error) ? error.retryAfterMs : undefined) ?? 1_000;
  return { "retry-after": String(Math.max(1, Math.ceil(ms / 1_000))) };
}
