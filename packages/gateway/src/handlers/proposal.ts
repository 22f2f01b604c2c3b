// `kind: mcp/proposal`: a call somebody else may make. The gateway keeps no state of it. [X1-4.2-1] [PL-3-1]
import { type Envelope, isObject, isTimestamp, McpxError } from "@mcpx/protocol";
import { type HandlerOutcome, type Handling, publish } from "../handling/handling.ts";

/** The longest a proposal may ask to live: a day. */
const ttlMaxMs = 86_400_000;

export function handleProposal({ gateway, member, envelope }: Handling): HandlerOutcome {
  checkProposal(envelope);
  gateway.rates.chargeProposal(member.participant.id, gateway.clock.monotonic()); // [X1-7.3-1]
  return publish;
}

/** [X1-4.2-2] */
function checkProposal({ kind, payload }: Envelope): void {
  const bad = (detail: string) => new McpxError("bad_proposal", detail);
  for (const key of ["jsonrpc", "id"]) if (Object.hasOwn(payload, key)) throw bad(`a proposal has no ${key}`);
  if (typeof payload.method !== "string" || payload.method === "")
    throw bad("payload.method must be a string");
  if (kind.method !== undefined && kind.method !== payload.method) {
    throw bad("kind and payload name different methods"); // [PL-7-1]
  }
  if (!isObject(payload.params)) throw bad("payload.params must be an object");
  if (payload.reason !== undefined && typeof payload.reason !== "string")
    throw bad("payload.reason must be a string");
  checkLife(payload.ttl_ms, payload.expires_at, bad);
}

/** [PL-6-1] */
function checkLife(ttlMs: unknown, expiresAt: unknown, bad: (detail: string) => McpxError): void {
  if (
    ttlMs !== undefined &&
    !(Number.isInteger(ttlMs) && (ttlMs as number) > 0 && (ttlMs as number) <= ttlMaxMs)
  ) {
    throw bad(`payload.ttl_ms must be an integer from 1 to ${ttlMaxMs}`);
  }
  if (expiresAt !== undefined && !isTimestamp(expiresAt))
    throw bad("payload.expires_at must be an RFC 3339 timestamp");
}
