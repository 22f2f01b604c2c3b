// `mcpx.reject.proposal`: advice from anyone allowed it, an end from the target. Trackers tell which. [PL-2-1]
import { McpxError } from "@mcpx/protocol";
import type { Handling } from "../handling.ts";
import { checkReason } from "../lifecycle.ts";
import { type Outcome, publish } from "../outcome.ts";
import { findReferred } from "../referred.ts";

export async function handleReject({ member, envelope, permission }: Handling): Promise<Outcome> {
  checkReason(envelope);
  if (envelope.correlationId === undefined) throw new McpxError("bad_lifecycle", "correlation_id is missing");
  if (permission === "addressed") {
    const referred = await findReferred(member.room, envelope.correlationId);
    if (referred !== undefined && !referred.to.includes(member.participant.id)) {
      throw new McpxError(
        "kind_not_allowed",
        `${member.level} participants reject only what is addressed to them`,
      );
    }
  }
  return publish;
}
