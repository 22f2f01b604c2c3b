// `mcpx reject ID`: rejects a call at a gate, signed; `mcpx reject ROOM ID REASON`: to a proposal of a room.
import { defaultLimits } from "@mcpx/protocol";
import { accessRoom, enterRoom, roomOptions } from "../../access/room-access.ts";
import { roomFailure } from "../../access/room-end.ts";
import { type Context, defineCommand } from "../../framework/command.ts";
import { misuse } from "../../framework/failure.ts";
import { gateOptions, rejectGate } from "../../gates/decide-gate.ts";
import { findPending, rejectProposal } from "../../gates/decide-proposal.ts";
import { targetText } from "../../gates/proposal-card.ts";
import { findRoomGate, roomGateAccess } from "../../gates/room-gate-access.ts";

const options = {
  ...roomOptions,
  ...gateOptions,
  reason: { type: "string", value: "TEXT", about: "why; the agent is told" },
} as const;

export const reject = defineCommand({
  usage: "ID [--reason TEXT] [--key FILE] | ROOM ID REASON…",
  words: { min: 1, max: Number.POSITIVE_INFINITY, values: [["gate", "room"], ["proposal"], []] },
  options,
  examples: [
    ["mcpx reject Hk3v --reason 'not on a Friday'", "the agent is told why"],
    ["mcpx reject demo wish-1 too hot", "in the room demo; the proposer is told why"],
  ],
  run(context) {
    const { words, options } = context;
    if (words.length === 1) return rejectGate(context, words[0] ?? "", options.reason);
    if (words.length === 2 && options.reason === undefined) {
      throw misuse(
        "say why",
        "mcpx reject ROOM ID REASON, or mcpx reject ID --reason TEXT for a call at a gate",
      );
    }
    return runInRoom(context);
  },
});

async function runInRoom(context: Context<typeof options>): Promise<number> {
  const { options, output, words } = context;
  const [, id = "", ...said] = words;
  const reason = [...(options.reason === undefined ? [] : [options.reason]), ...said].join(" ");
  const room = await enterRoom(accessRoom(context, { level: "full" }), {
    history: defaultLimits.historyPageMax,
    signal: context.interrupted(),
  });
  try {
    if (findRoomGate(room, id) !== undefined) {
      return await rejectGate(context, id, reason === "" ? undefined : reason, roomGateAccess(room));
    }
    const proposal = findPending(room, id, "rejected");
    const isOver = await rejectProposal(room, proposal, reason);
    if (options.json) output.json({ id: proposal.id, rejected: isOver });
    else
      output.line(
        isOver ? `rejected ${proposal.id}` : `${proposal.proposer} was told; ${adviceText(proposal)}`,
      );
    return 0;
  } catch (error) {
    throw roomFailure(error);
  } finally {
    await room.close();
  }
}

/** Why a rejection has not ended it. */
function adviceText(proposal: Parameters<typeof targetText>[0]): string {
  return `it ends only when ${targetText(proposal)} rejects it`;
}
