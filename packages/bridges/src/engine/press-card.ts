// A button was pressed, or its words were written. Who pressed is the platform's word; what is decided is the card's;
// whether they may is the gateway's, at this moment. [B-BRIDGE-1]
import { createHash } from "node:crypto";
import { type Participant, type Proposal, withFulfilmentMeta } from "@mcpx/client";
import { gateUrl, isDecidable, signableGate } from "../cards/card-post.ts";
import type { Press } from "../platform.ts";
import type { Member } from "../rooms/bridge-rooms.ts";
import { RoomConnectionRefusal } from "../rooms/room-connection.ts";
import type { Card } from "../store/bridge-store.ts";
import type { BridgeCore, Channel } from "./bridge-core.ts";
import { introduce } from "./introduce.ts";
import { pressGate } from "./press-gate.ts";
import { refusalText } from "./refusal-text.ts";
import { whisper } from "./whisper.ts";

const reasonCharsMax = 500;

export async function pressCard(core: BridgeCore, press: Press): Promise<void> {
  const answer = await decide(core, press);
  if (answer !== undefined) await whisper(core, press.user, press.channel, answer);
}

/** What to tell the person who pressed; nothing where the card itself will show it. */
async function decide(core: BridgeCore, press: Press): Promise<string | undefined> {
  const { store, name } = core.options;
  const channel = core.channels.get(press.channel);
  const card = await store.card(press.card);
  const isHere = card?.bridge === name && card.channel === press.channel;
  if (card === undefined || !isHere || channel?.followed === undefined) {
    return "This card is unknown here. Nothing was decided.";
  }
  const link = await store.linkOf(name, press.user.key);
  if (link === undefined) {
    return "You are not linked, so you cannot decide here. Ask the operator for a code, then write: link CODE";
  }
  const proposal = channel.followed.proposal(card.proposal);
  if (proposal === undefined || proposal.status !== "pending") {
    refresh(channel, card);
    return `This proposal is ${proposal?.status ?? "no longer known"}. Nothing more was decided.`;
  }
  const member = { participant: link.participant, level: link.level, linkId: link.id };
  const notice = signableGate(proposal, proposerOf(channel, proposal), core.options.presses);
  if (notice !== undefined) return pressGate(core, channel.topic, member, { press, card, proposal, notice });
  if (!isDecidable(proposal)) return elsewhere(core, channel, proposal);
  if (press.verb === "reject") return reject(core, channel, member, { card, proposal, reason: press.reason });
  return approve(core, channel, member, { card, proposal });
}

function proposerOf({ followed }: Channel, { proposer }: Proposal): Participant | undefined {
  return followed?.room.peers.find(({ id }) => id === proposer);
}

function elsewhere(core: BridgeCore, channel: Channel, proposal: Proposal): string {
  const url = gateUrl(proposal, proposerOf(channel, proposal)) ?? core.options.roomUrl(channel.topic);
  return `A button cannot decide this proposal. Nothing was decided.${url === undefined ? "" : ` Open ${url}`}`;
}

interface Decided {
  card: Card;
  proposal: Proposal;
  reason?: string | undefined;
}

async function reject(
  core: BridgeCore,
  channel: Channel,
  member: Member,
  decided: Decided,
): Promise<string | undefined> {
  const { card, proposal, reason } = decided;
  try {
    const roomConnection = await core.roomConnections.roomConnectionOf(member, channel.topic);
    await roomConnection.publish({
      id: pressId(card, "reject", member.participant),
      kind: "mcpx.reject.proposal",
      to: [proposal.proposer],
      correlation_id: proposal.id,
      payload: reason === undefined ? {} : { reason: reason.slice(0, reasonCharsMax) },
    });
    return undefined;
  } catch (error) {
    // The same person rejected it before, with other words.
    if (error instanceof RoomConnectionRefusal && error.reason === "id_conflict")
      return "You have rejected it already.";
    return `Your rejection was not accepted: ${refusalText(error)}`;
  }
}

/** One person at a time, and only the first for good: two presses never make two calls. */
async function approve(
  core: BridgeCore,
  channel: Channel,
  member: Member,
  decided: Decided,
): Promise<string | undefined> {
  const { store } = core.options;
  const { card, proposal } = decided;
  const [target = ""] = proposal.targets;
  if (!channel.followed?.room.peers.some(({ id }) => id === target)) {
    return `${target} is not in the room. Nothing was decided.`;
  }
  if (!(await store.claim(card.id, member.participant))) {
    const { claimedBy } = (await store.card(card.id)) ?? {};
    return claimedBy === member.participant
      ? undefined
      : `${claimedBy ?? "Somebody"} is approving it already.`;
  }
  let isSent = false;
  try {
    const roomConnection = await core.roomConnections.roomConnectionOf(member, channel.topic);
    await introduce(roomConnection, card, target);
    // The proposal may have ended while the target introduced itself.
    const now = channel.followed.proposal(card.proposal)?.status ?? "no longer known";
    if (now !== "pending") throw new RoomConnectionRefusal("not_pending", `the proposal is ${now}`);
    isSent = true;
    await roomConnection.publish(fulfilmentOf(card, proposal, member.participant, target));
    return undefined;
  } catch (error) {
    // Where no answer came it may be on the disk: nobody else approves it then.
    const isUnknown =
      isSent && error instanceof RoomConnectionRefusal && ["timeout", "closed"].includes(error.reason);
    if (!isUnknown) await store.release(card.id);
    return isUnknown
      ? "It is not known whether your approval was accepted. Look at the room before you try again."
      : `Your approval was not accepted: ${refusalText(error)}`;
  }
}

function fulfilmentOf(card: Card, proposal: Proposal, participant: string, target: string) {
  const { id, proposer, method, params } = proposal;
  const envelopeId = pressId(card, "approve", participant);
  return {
    id: envelopeId,
    kind: "mcp",
    to: [target],
    correlation_id: id,
    payload: {
      jsonrpc: "2.0",
      id: envelopeId,
      method,
      params: withFulfilmentMeta(params, { proposal: id, proposer }),
    },
  };
}

/** The same press of the same person is the same envelope, also after a restart: the gateway takes it once. */
function pressId({ id }: Card, verb: string, participant: string): string {
  const who = createHash("sha256").update(participant).digest("hex").slice(0, 16);
  return `press-${id}-${verb}-${who}`;
}

function refresh({ stale, wake }: Channel, { proposal }: Card): void {
  stale.add(proposal);
  wake();
}
