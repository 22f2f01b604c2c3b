// `mcpx.reject.proposal`: advice from anyone allowed it, an end from the target. Trackers tell which. [PL-2-1]
import { McpxError } from "@mcpx/protocol";
import { type HandlerOutcome, type Handling, publish } from "../handling/handling.ts";
import { checkReason } from "../handling/lifecycle.ts";
import { findReferred } from "../room/referred.ts";

export async function handleReject({
  gateway,
  member,
  envelope,
  permission,
}: Handling): Promise<HandlerOutcome> {
  checkReason(envelope, gateway.limits);
  const { correlationId: id } = envelope;
  if (id === undefined) throw new McpxError("bad_lifecycle", "correlation_id is missing");
  const { toolAccess, endedProposals } = member.room;
  if (permission !== "addressed" && toolAccess === "off") return publish;
  const referred = await findReferred(member.room, id);
  if (referred === undefined) return publish;
  const by = member.participant.id;
  if (permission === "addressed" && !referred.to.includes(by)) {
    throw new McpxError(
      "kind_not_allowed",
      `${member.level} participants reject only what is addressed to them`,
    );
  }
  if (toolAccess !== "off") {
    endedProposals.reject({ id, proposer: referred.from, seq: referred.seq }, referred.to, by);
  }
  return publish;
}
