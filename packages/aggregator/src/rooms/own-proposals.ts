// Which proposals of a room are this tree's gates. Pure.
import type { Proposal, Room } from "@mcpx/client";
import { gateProposalId, readGateNotice } from "@mcpx/protocol";

export interface OwnProposal {
  /** The id of the gate. */
  id: string;
  proposal: Proposal;
}

/** Somebody else's that look like one are somebody else's. */
export function ownProposals(
  { room, gates }: { room: Pick<Room, "id">; gates: { aggregatorId: string } },
  proposals: readonly Proposal[],
): OwnProposal[] {
  return proposals.flatMap((proposal) => {
    if (proposal.proposer !== room.id) return [];
    const notice = readGateNotice(proposal.mcpax);
    if (notice?.aggregator_id !== gates.aggregatorId) return [];
    const id = notice.confirmation_id;
    return gateProposalId(id) === proposal.id ? [{ id, proposal }] : [];
  });
}
