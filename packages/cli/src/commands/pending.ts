// `mcpx pending`: the calls that wait at gates; `mcpx pending ROOM`: the proposals of a room. Both wait for a decision.
import { defaultLimits } from "@mcpx/protocol";
import { type Context, defineCommand } from "../command.ts";
import { gateCard } from "../gate-card.ts";
import { gateDesk, gateJson } from "../gate-desk.ts";
import { proposalCard } from "../proposal-card.ts";
import { readLimit } from "../read-limit.ts";
import { accessRoom, enterRoom, roomOptions } from "../room-access.ts";

const options = {
  ...roomOptions,
  limit: { type: "string", value: "N", about: "how many calls to show, oldest first (default: 20)" },
  secrets: { type: "boolean", about: "show what looks like a secret too" },
} as const;

export const pending = defineCommand({
  name: "pending",
  summary: "show what waits for a human: calls at gates, or proposals of a room",
  usage: "[ROOM] [--limit N] [--secrets]",
  words: { min: 0, max: 1 },
  options,
  examples: [
    ["mcpx pending", "calls that wait at gates: who wants what"],
    ["mcpx pending --json | jq -r '.[].id'", "their ids alone"],
    ["mcpx pending demo", "proposals of the room demo"],
  ],
  run: (context) => (context.words.length === 0 ? showGates(context) : showProposals(context)),
});

async function showGates(context: Context<typeof options>): Promise<number> {
  const { options, output, program } = context;
  const limit = readLimit(options.limit, 20);
  const desk = gateDesk(context);
  const { gates, approvers, isPanic } = await desk.list("pending");
  // Who has waited longest comes first.
  const shown = await Promise.all(
    gates
      .reverse()
      .slice(0, limit)
      .map(({ id }) => desk.find(id)),
  );
  if (options.json) {
    output.json(shown.map(gateJson));
    return 0;
  }
  if (isPanic) output.note(`panic is on: every call is asked for, until ${program} panic off`);
  if (approvers.length === 0) {
    output.note(`nobody can approve yet: ${program} key new, then ${program} key enroll NAME`);
  }
  if (gates.length === 0) output.note("no call waits at a gate");
  for (const gate of shown) {
    const card = gateCard(gate, output, { nowMs: Date.now(), isOpen: options.secrets, program });
    for (const line of card) output.line(line);
  }
  const more = gates.length - shown.length;
  if (more > 0) output.note(`… and ${more} more: --limit ${gates.length} shows them`);
  return 0;
}

async function showProposals(context: Context<typeof options>): Promise<number> {
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
}
