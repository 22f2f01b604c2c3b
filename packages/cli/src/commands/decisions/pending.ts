// `mcpx pending`: the calls that wait at gates; `mcpx pending ROOM`: these and the proposals of a room, gates of other
// trees among them. All wait for a decision.
import { callSecrets, createToolLists, type Proposal, proposalRecord } from "@mcpx/client";
import { defaultLimits } from "@mcpx/protocol";
import { accessRoom, enterRoom, roomOptions } from "../../access/room-access.ts";
import { type Context, defineCommand } from "../../framework/command.ts";
import { readLimit } from "../../framework/read-limit.ts";
import { type GateReport, gateAccess, gateJson } from "../../gates/gate-access.ts";
import { gateCard } from "../../gates/gate-card.ts";
import { proposalCard } from "../../gates/proposal-card.ts";
import { roomGate } from "../../gates/room-gate-access.ts";

const options = {
  ...roomOptions,
  limit: { type: "string", value: "N", about: "how many calls to show, oldest first (default: 20)" },
  secrets: { type: "boolean", about: "also show values that look like secrets" },
} as const;

export const pending = defineCommand({
  usage: "[ROOM] [--limit N] [--secrets]",
  words: { min: 0, max: 1, values: [["room"]] },
  options,
  examples: [
    ["mcpx pending", "calls that wait at gates, and results that are held: who wants what"],
    ["mcpx pending --json | jq -r '.[].id'", "their ids alone"],
    ["mcpx pending demo", "these, and what waits in the room demo"],
  ],
  run: (context) => (context.words.length === 0 ? showGates(context) : showRoom(context)),
});

type PendingContext = Context<typeof options>;

async function showGates(context: PendingContext): Promise<number> {
  const { options, output } = context;
  const { shown, more, note } = await localGates(context);
  if (options.json) {
    output.json(shown.map(gateJson));
    return 0;
  }
  note();
  if (shown.length === 0) output.note("no call waits at a gate");
  for (const gate of shown) tellGate(context, gate, "");
  if (more > 0) output.note(`… and ${more} more: --limit ${shown.length + more} shows them`);
  return 0;
}

/** Of the gateway itself: who has waited longest comes first. */
async function localGates(context: PendingContext) {
  const { options, output, program } = context;
  const limit = readLimit(options.limit, 20);
  const access = gateAccess(context);
  const { gates: calls, approvers, isPanic } = await access.list("pending");
  const { gates: results } = await access.list("held");
  const waiting = [...results, ...calls].reverse();
  const shown = await Promise.all(waiting.slice(0, limit).map(({ id }) => access.find(id)));
  if (options.secrets) for (const { id } of shown) await access.noteSecrets?.(id);
  const note = () => {
    if (isPanic) output.note(`panic is on: every call waits for an approval, until ${program} panic off`);
    if (approvers?.length === 0) {
      output.note(
        `nobody can approve yet: register a passkey at the console (${program} console), or ${program} key new and ${program} key enroll NAME`,
      );
    }
  };
  return { shown, more: waiting.length - shown.length, note };
}

/** Everything of the room that waits, gates among it, and the gates of the gateway that are not shown there. */
async function showRoom(context: PendingContext): Promise<number> {
  const { options, output } = context;
  // Level full may ask for tools, whose schemas say what is secret.
  const place = accessRoom(context, { level: "full" });
  const room = await enterRoom(place, { history: defaultLimits.historyPageMax });
  const { topic, peers } = room;
  const seen = { topic, peers };
  const lists = createToolLists(room);
  const proposals = room.proposals.pending();
  await lists.load([...new Set(proposals.flatMap((one) => callSecrets(one, lists.all, peers).unlisted))]);
  const secrets = new Map(proposals.map((one) => [one.id, callSecrets(one, lists.all, peers).places]));
  await room.close();
  const inRoom = new Set(proposals.flatMap((proposal) => roomGate(seen, proposal)?.id ?? []));
  // Only who is at home at the gateway may look at all of its gates.
  const { shown, more } = place.access.mintsTokens ? await localGates(context) : { shown: [], more: 0 };
  const elsewhere = shown.filter(({ id }) => !inRoom.has(id));
  if (options.json) {
    output.json([
      ...elsewhere.map(gateJson),
      ...proposals.map((one) => ({ ...one, ...proposalRecord(one) })),
    ]);
    return 0;
  }
  if (proposals.length + elsewhere.length === 0) output.note(`nothing is pending in ${topic}`);
  for (const gate of elsewhere) tellGate(context, gate, "");
  if (more > 0)
    output.note(`… and ${more} more at gates: ${context.program} pending --limit ${shown.length + more}`);
  for (const proposal of proposals) {
    const gate = roomGate(seen, proposal);
    if (gate === undefined) tellProposal(context, topic, proposal, secrets.get(proposal.id));
    else tellGate(context, gate, `${topic} `);
  }
  return 0;
}

/** `before`: the room it is decided in, and a space. */
function tellGate({ options, output, program }: PendingContext, gate: GateReport, before: string): void {
  const { id } = gate;
  const decide = {
    approve: `${program} approve ${before}${id}`,
    reject: `${program} reject ${before}${id} --reason TEXT`,
  };
  const card = gateCard(gate, output, { nowMs: Date.now(), isOpen: options.secrets, decide });
  for (const line of card) output.line(line);
}

function tellProposal(
  { options, output, program }: PendingContext,
  topic: string,
  proposal: Proposal,
  secrets: readonly string[] = [],
): void {
  const { id } = proposal;
  const card = proposalCard(proposal, output, {
    label: id,
    ways: [`${program} approve ${topic} ${id}`, `${program} reject ${topic} ${id} REASON`],
    nowMs: Date.now(),
    isWhole: true,
    isOpen: options.secrets,
    whole: "--secrets",
    secrets,
  });
  for (const line of card) output.line(line);
}
