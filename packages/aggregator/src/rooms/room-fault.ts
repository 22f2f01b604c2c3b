// What goes wrong in a room, as the tree says it. Pure.
import { errorTable, isObject, McpxError, type Reason } from "@mcpx/protocol";
import { RpcError, rpcCodes } from "../mcp/rpc-error.ts";

interface Fault extends Error {
  /** The word of a room or its gateway. */
  reason?: unknown;
  /** The number of an answer. */
  code?: unknown;
  data?: unknown;
  retryAfterMs?: number | undefined;
}

const words: ReadonlyMap<string, Reason> = new Map<string, Reason>([
  ["not_here", "server_unreachable"],
  ["peer_left", "server_lost"],
  ["closed", "server_lost"],
  ["network", "server_lost"],
  ["gap", "server_lost"],
  ["timeout", "timeout"],
  ["bad_answer", "bad_server_answer"],
  ["outbox_full", "rate_limited"],
  ["too_many_calls", "rate_limited"],
]);

/** A participant's own error as it came; the room's and the gateway's with their words; anything else as it is. */
export function faultInRoom(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return thrown;
  const { name, message, reason, code, data, retryAfterMs } = thrown as Fault;
  const word = typeof reason === "string" ? reason : "";
  const known = Object.hasOwn(errorTable, word) ? (word as Reason) : words.get(word);
  if (name === "PeerError" && typeof code === "number" && !isOfGateway(code, known)) {
    return new RpcError({ code, message, ...(data !== undefined && { data }) });
  }
  if (known === undefined) return name === "RoomError" ? new McpxError("server_lost", message) : thrown;
  const detail = isObject(data) && typeof data.detail === "string" ? data.detail : message;
  return new McpxError(known, detail, retryAfterMs === undefined ? {} : { retryAfterMs });
}

/** Whether the gateway made the error on behalf of the peer: code and reason are one row of the error table. */
function isOfGateway(code: number, known: Reason | undefined): boolean {
  return known !== undefined && errorTable[known].code === code;
}

export function isLevelFault(thrown: unknown): boolean {
  return thrown instanceof Error && (thrown as Fault).reason === "privilege_violation";
}

/** The participant serves nothing, or no tools. */
export function isNothingServed(thrown: unknown): boolean {
  return isObject(thrown) && thrown.code === rpcCodes.methodNotFound;
}
