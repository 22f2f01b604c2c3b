// `mcpx reject ROOM ID REASON`: says no to a proposal.
import { defaultLimits } from "@mcpx/protocol";
import { type Context, defineCommand } from "../command.ts";
import { rejectProposal, whyNotPending } from "../decide-proposal.ts";
import { Failure } from "../failure.ts";
import { targetText } from "../proposal-card.ts";
import { accessRoom, enterRoom, roomOptions } from "../room-access.ts";
import { roomFailure } from "../room-end.ts";

export const reject = defineCommand({
  name: "reject",
  summary: "say no to what was proposed in a room",
  usage: "ROOM ID REASON…",
  words: { min: 3, max: Number.POSITIVE_INFINITY },
  options: roomOptions,
  examples: [["mcpx reject demo wish-1 too hot", "the proposer is told why"]],
  run,
});

async function run(context: Context<typeof roomOptions>): Promise<number> {
  const { options, output, words } = context;
  const [, id = "", ...reason] = words;
  const room = await enterRoom(accessRoom(context, { level: "full" }), {
    history: defaultLimits.historyPageMax,
    signal: context.interrupted(),
  });
  try {
    const proposal = room.proposals.get(id);
    const why = whyNotPending(room, id);
    if (proposal === undefined || why !== undefined) {
      throw new Failure(`${id} cannot be rejected: ${why}`, `see mcpx pending ${room.topic}`);
    }
    const isOver = await rejectProposal(room, proposal, reason.join(" "));
    if (options.json) output.json({ id, rejected: isOver });
    else output.line(isOver ? `rejected ${id}` : `${proposal.proposer} was told; ${adviceText(proposal)}`);
    return 0;
  } catch (error) {
    throw roomFailure(error);
  } finally {
    await room.close();
  }
}

/** Why a no has not ended it. */
function adviceText(proposal: Parameters<typeof targetText>[0]): string {
  return `only the no of ${targetText(proposal)} ends it`;
}
