// `mcpx.withdraw.proposal`: only the proposer withdraws. [PL-1-1] [PL-9-2]
import { type Envelope, isId, type Limits, McpxError } from "@mcpx/protocol";
import { type HandlerOutcome, type Handling, publish } from "../handling/handling.ts";
import { checkReason } from "../handling/lifecycle.ts";
import type { ProposalPlace } from "../room/ended-proposals.ts";

export async function handleWithdraw({ gateway, member, envelope }: Handling): Promise<HandlerOutcome> {
  checkReason(envelope, gateway.limits);
  const { log, topic, toolAccess, endedProposals } = member.room;
  const own: ProposalPlace[] = [];
  for (const id of withdrawnIds(envelope, gateway.limits)) {
    // Whose it is stands beside the text: reading 64 large ones would cost everybody else a third of a second.
    const referred = await log.find(topic, id);
    // Unknown or ended ones are relayed without effect. [PL-9-1]
    if (referred !== undefined && referred.from !== member.participant.id) {
      throw new McpxError("not_the_proposer", `the proposal ${id} was made by another participant`);
    }
    if (referred !== undefined) own.push({ id, proposer: referred.from, seq: referred.seq });
  }
  if (toolAccess !== "off") for (const place of own) endedProposals.withdraw(place);
  return publish;
}

/** One by `correlation_id`, or several in `payload.proposals`. [PL-8-1] */
function withdrawnIds({ correlationId, payload }: Envelope, limits: Limits): readonly string[] {
  const { proposals } = payload;
  if (proposals === undefined) {
    if (correlationId === undefined) throw new McpxError("bad_lifecycle", "correlation_id is missing");
    return [correlationId];
  }
  const isList = Array.isArray(proposals) && proposals.length > 0 && proposals.length <= limits.toMax;
  const isEachOne = isList && proposals.every((id) => isId(id, limits.idCharsMax));
  if (!isEachOne || new Set(proposals).size !== proposals.length) {
    throw new McpxError(
      "bad_lifecycle",
      `payload.proposals must be 1 to ${limits.toMax} different envelope ids`,
    );
  }
  return correlationId === undefined ? proposals : [correlationId, ...proposals];
}
