// `mcpx pending ROOM`: the proposals that wait for a decision.
import { defaultLimits } from "@mcpx/protocol";
import { defineCommand } from "../command.ts";
import { proposalCard } from "../proposal-card.ts";
import { accessRoom, enterRoom, roomOptions } from "../room-access.ts";

export const pending = defineCommand({
  name: "pending",
  summary: "show the proposals of a room that wait for a decision",
  usage: "ROOM",
  words: { min: 1, max: 1 },
  options: roomOptions,
  examples: [
    ["mcpx pending demo", "who wants what of whom, and how to decide"],
    ["mcpx pending demo --json | jq -r '.[].id'", "their ids alone"],
  ],
  async run(context) {
    const { options, output } = context;
    const room = await enterRoom(accessRoom(context), { history: defaultLimits.historyPageMax });
    await room.close();
    const proposals = room.proposals.pending();
    if (options.json) {
      output.json(proposals);
      return 0;
    }
    if (proposals.length === 0) output.note(`nothing is pending in ${room.topic}`);
    for (const proposal of proposals) {
      const { id } = proposal;
      const card = proposalCard(proposal, output, {
        label: id,
        approve: `mcpx approve ${room.topic} ${id}`,
        reject: `mcpx reject ${room.topic} ${id} REASON`,
        nowMs: Date.now(),
        isWhole: true,
      });
      for (const line of card) output.line(line);
    }
    return 0;
  },
});
