// What the audit says of a gate: one record for each decision and each end, with who, which tool, which arguments,
// which result and by which proof. Never the arguments, the result or the proof themselves.
import type { Audit, AuditEvent } from "@mcpx/host";
import { type JsonObject, McpxError } from "@mcpx/protocol";
import type { ListedGate } from "./gate-store.ts";

export function gateEvent(
  action: string,
  actor: string | undefined,
  { id, tool, digest, review, principal, server, refusal }: ListedGate,
  more: JsonObject = {},
): AuditEvent {
  const result = review === undefined ? {} : { result: review.digest };
  // What was signed, and so the same as every other surface shows.
  const signed = { gate: id, digest, asker: principal, ...(server && { server: { ...server } }) };
  return {
    action: `gate.${action}`,
    actor,
    subject: tool,
    ...(refusal !== undefined && { reason: refusal }),
    detail: { ...signed, ...result, ...more },
  };
}

/** The record is on disk before the decision has any effect. Where it cannot be, nothing does: rejects with `storage_failed`. */
export async function recordFirst(audit: Audit | undefined, event: AuditEvent): Promise<void> {
  if ((await audit?.recordNow(event)) === false) {
    throw new McpxError("storage_failed", "the decision could not be recorded, so it has no effect");
  }
}
