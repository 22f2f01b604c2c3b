// `mcpx approve ID`: signs that a call at a gate may go on; `mcpx approve ROOM ID`: does what was proposed in a room.
// Both show the outcome.
import type { Proposal } from "@mcpx/client";
import { defaultLimits } from "@mcpx/protocol";
import { accessRoom, enterRoom, roomOptions } from "../../access/room-access.ts";
import { roomFailure } from "../../access/room-end.ts";
import { checkParticipantId } from "../../config/check-names.ts";
import { type Context, defineCommand } from "../../framework/command.ts";
import { Failure, misuse } from "../../framework/failure.ts";
import { readJsonObject } from "../../framework/read-json-object.ts";
import { visible } from "../../framework/visible.ts";
import { resultLines } from "../../gates/call-text.ts";
import { approveGate, gateOptions } from "../../gates/decide-gate.ts";
import { approveProposal, findPending } from "../../gates/decide-proposal.ts";
import { findRoomGate, roomGateAccess } from "../../gates/room-gate-access.ts";

const options = {
  ...roomOptions,
  ...gateOptions,
  yes: { type: "boolean", about: "sign at once: do not show the call, do not ask" },
  below: { type: "boolean", about: "sign for the gates of trees below too, where the same call stops again" },
  secrets: { type: "boolean", about: "also show values that look like secrets" },
  to: {
    type: "string",
    values: "participant",
    value: "PEER",
    about: "in a room: which participant makes the call, where the proposal names none",
  },
  arguments: { type: "string", value: "JSON", about: "in a room: arguments to change; the others stay" },
} as const;

export const approve = defineCommand({
  usage: "ID [--key FILE] [--below] [--yes] | ROOM ID [--arguments JSON]",
  words: { min: 1, max: 2, values: [["gate", "room"], ["proposal"]] },
  options,
  examples: [
    ["mcpx approve Hk3v", "look, then sign"],
    ["mcpx approve Hk3v --yes --key ~/ops.jwk", "sign at once"],
    ["mcpx approve Hk3v --below", "one proof, also for the gates of trees below"],
    ["mcpx approve demo wish-1", "in the room demo; a gate shown there is signed, too"],
    [`mcpx approve demo wish-1 --arguments '{"celsius": 180}'`, "with another value of one argument"],
  ],
  run(context) {
    const { words, options } = context;
    if (words.length > 1) return runInRoom(context);
    checkAsItIs(context);
    const { yes: isAgreed, secrets: isOpen, below: isBelowToo } = options;
    return approveGate(context, words[0] ?? "", { isAgreed, isOpen, isBelowToo });
  },
});

function checkAsItIs(context: Context<typeof options>): void {
  if (context.options.to === undefined && context.options.arguments === undefined) return;
  throw misuse("a call at a gate is approved exactly as it is", "leave out --to and --arguments");
}

async function runInRoom(context: Context<typeof options>): Promise<number> {
  const { options, output, words } = context;
  const [, id = ""] = words;
  const changes =
    options.arguments === undefined ? undefined : readJsonObject(options.arguments, "--arguments");
  if (options.to !== undefined) checkParticipantId(options.to);
  const signal = context.interrupted();
  const room = await enterRoom(accessRoom(context, { level: "full" }), {
    history: defaultLimits.historyPageMax,
    signal,
  });
  try {
    if (findRoomGate(room, id) !== undefined) {
      checkAsItIs(context);
      if (options.below) throw misuse("a room shows no gates below", "write mcpx approve ID --below");
      const access = roomGateAccess(room);
      return await approveGate(context, id, { isAgreed: options.yes, isOpen: options.secrets }, access);
    }
    const proposal = findPending(room, id, "approved");
    checkNoCopy(proposal);
    const result = await approveProposal(room, proposal, { target: options.to, changes, signal });
    if (options.json) output.json(result);
    else for (const line of resultLines(result)) output.line(line);
    return result.isError === true ? 1 : 0;
  } catch (error) {
    throw roomFailure(error);
  } finally {
    await room.close();
  }
}

/** It looks like a gate, and is not the tree's: its maker wants a signature, or a call in the approver's name. */
function checkNoCopy({ mcpax, proposer }: Proposal): void {
  if (mcpax === undefined) return;
  const fix = "sign nothing; mcpx pending shows the gates of the tree";
  throw new Failure(`${visible(proposer)} made this card, and is not the tree of this gateway`, fix);
}
