// `mcpx approve ROOM ID`: does what was proposed, and shows what came of it.
import { defaultLimits } from "@mcpx/protocol";
import { resultLines } from "../call-text.ts";
import { checkParticipantId } from "../check-names.ts";
import { type Context, defineCommand } from "../command.ts";
import { approveProposal, whyNotPending } from "../decide-proposal.ts";
import { Failure } from "../failure.ts";
import { readJsonObject } from "../read-json-object.ts";
import { accessRoom, enterRoom, roomOptions } from "../room-access.ts";
import { roomFailure } from "../room-end.ts";

const options = {
  ...roomOptions,
  to: { type: "string", value: "PEER", about: "who shall do it, where the proposal leaves it open" },
  arguments: { type: "string", value: "JSON", about: "arguments to change; the others stay as proposed" },
} as const;

export const approve = defineCommand({
  name: "approve",
  summary: "do what was proposed in a room",
  usage: "ROOM ID [--arguments JSON] [--to PEER]",
  words: { min: 2, max: 2 },
  options,
  examples: [
    ["mcpx approve demo wish-1", "as it was proposed"],
    [`mcpx approve demo wish-1 --arguments '{"celsius": 180}'`, "with another temperature"],
  ],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
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
    const proposal = room.proposals.get(id);
    const why = whyNotPending(room, id);
    if (proposal === undefined || why !== undefined) {
      throw new Failure(`${id} cannot be approved: ${why}`, `see mcpx pending ${room.topic}`);
    }
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
