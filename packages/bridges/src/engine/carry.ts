// From a room to its channel: one loop, in the order of the room, each envelope once; cards that are stale first.
import { type Proposal, type RoomEnvelope, readChat } from "@mcpx/client";
import { parseKind } from "@mcpx/protocol";
import { cardPost, endPost } from "../cards/card-post.ts";
import type { Card } from "../store/bridge-store.ts";
import { newId } from "../store/new-id.ts";
import { cut, fit, type Post, partsOf, shown } from "../text/post.ts";
import type { BridgeCore, Channel } from "./bridge-core.ts";
import { keepPost, sendReply } from "./replies.ts";
import { isSaidHere } from "./said-id.ts";
import { send } from "./send.ts";

/** Behind by more than this, the older ones become one summary. */
const behindMax = 50;
/** The newest, which are carried all the same. */
const newestKept = 20;

/** Until the bridge is closed. The room must be followed, and `carried` be where to begin. */
export async function carry(core: BridgeCore, channel: Channel, news: () => Promise<void>): Promise<void> {
  const { followed } = channel;
  if (followed === undefined) return;
  while (!core.signal.aborted) {
    const [stale] = channel.stale;
    if (stale !== undefined) {
      channel.stale.delete(stale);
      await showChange(core, channel, stale).catch((error: unknown) => {
        channel.stale.add(stale);
        throw error;
      });
    } else if (followed.latest - channel.carried > behindMax) {
      await summarise(core, channel, followed.latest - newestKept);
    } else if (followed.latest > channel.carried) {
      await carryPage(core, channel);
    } else {
      await news();
    }
  }
}

async function carryPage(core: BridgeCore, channel: Channel): Promise<void> {
  const page = await channel.followed?.after(channel.carried);
  for (const envelope of page?.envelopes ?? []) {
    await carryOne(core, channel, envelope);
    await moveTo(core, channel, envelope.seq ?? channel.carried);
    // What is stale, or too much, is looked at after every single one.
    if (channel.stale.size > 0 || (channel.followed?.latest ?? 0) - channel.carried > behindMax) return;
  }
  await moveTo(core, channel, page?.upTo ?? channel.carried);
}

async function moveTo({ options }: BridgeCore, channel: Channel, seq: number): Promise<void> {
  if (seq <= channel.carried) return;
  channel.carried = seq;
  await options.store.setPosition(options.name, channel.id, { epoch: channel.followed?.epoch ?? "", seq });
}

async function carryOne(core: BridgeCore, channel: Channel, envelope: RoomEnvelope): Promise<void> {
  if (parseKind(envelope.kind)?.kind === "mcp/proposal") return showCard(core, channel, envelope);
  const chat = isForeign(core, channel, envelope) ? readChat(envelope) : undefined;
  if (chat === undefined) return;
  const { name, platform } = core.options;
  // Cut first: what nobody will see costs nothing.
  const text = cut(chat.text, platform.can.charsMax);
  const parts = partsOf(shown(text));
  const post = {
    parts: [{ kind: "text", text: authorOf(channel, chat.from), isStrong: true }, ...parts],
    buttons: [],
  } as const;
  const key = `${name}-${channel.followed?.epoch}-${envelope.seq}`;
  const whole = fitted(core, channel, post, chat.text.length - text.length);
  const ref = await sendReply(core, channel, { post: whole, key, answers: envelope.correlation_id });
  if (ref !== undefined) await keepPost(core, channel, ref, envelope.id);
}

/** Chat that did not come out of this very channel, where the platform carries chat at all. */
function isForeign({ options }: BridgeCore, channel: Channel, { id, from }: RoomEnvelope): boolean {
  const { platform, secret, name } = options;
  if (platform.can.carries === "cards") return false;
  return !isSaidHere(secret, { bridge: name, channel: channel.id, participant: from }, id);
}

/** The id always: names are chosen by their bearers. */
function authorOf({ followed }: Channel, id: string): string {
  const name = followed?.room.peers.find((peer) => peer.id === id)?.name;
  return name === undefined || name === id
    ? id
    : `${shown(name).replaceAll("\n", " ").slice(0, 100)} (${id})`;
}

/** As it stands now, not as it was made: it may be decided already. */
async function showCard(core: BridgeCore, channel: Channel, { id, seq = 0 }: RoomEnvelope): Promise<void> {
  const { store, name, platform } = core.options;
  const proposal = channel.followed?.proposal(id);
  if (proposal === undefined) return;
  const place = { bridge: name, channel: channel.id, proposal: id };
  const card = await store.cardFor({ ...place, id: newId(), seq, expiresAt: proposal.expiresAt });
  if (card.ref !== undefined) return;
  if (proposal.status !== "pending" && platform.can.edits === "never") return store.closeCard(card.id);
  await channel.followed?.learnSecrets(proposal);
  // Rendered when it leaves: what happened while it waited for its turn is in it.
  let seen = proposal;
  const ref = await send(core, channel, () => {
    seen = channel.followed?.proposal(id) ?? seen;
    return platform.post(channel.id, render(core, channel, card, seen), `card-${card.id}`);
  });
  if (ref === undefined) return store.closeCard(card.id);
  await keepPost(core, channel, ref, id);
  await store.setRef(card.id, ref);
  if (channel.followed?.proposal(id) !== seen) channel.stale.add(id);
  else if (isOver(seen)) await store.closeCard(card.id);
}

async function showChange(core: BridgeCore, channel: Channel, id: string): Promise<void> {
  const { store, name, platform } = core.options;
  const card = (await store.openCards(name, channel.id)).find(({ proposal }) => proposal === id);
  if (card?.ref === undefined) return;
  const { ref } = card;
  const proposal = channel.followed?.proposal(id);
  if (proposal === undefined) return showLost(core, channel, { ...card, ref });
  let seen = proposal;
  if (platform.can.edits === "in place") {
    await channel.followed?.learnSecrets(proposal);
    await send(core, channel, () => {
      seen = channel.followed?.proposal(id) ?? seen;
      return platform.edit(channel.id, ref, render(core, channel, card, seen));
    });
  } else if (platform.can.edits === "by post" && isOver(proposal)) {
    const post = fitted(core, channel, endPost({ proposal, card: card.id }));
    await send(core, channel, () => platform.post(channel.id, post, `end-${card.id}-${proposal.status}`));
  }
  if (isOver(seen)) await store.closeCard(card.id);
}

/** The room's history no longer has it: nothing can be decided by this card any more. */
async function showLost(core: BridgeCore, channel: Channel, card: Card & { ref: string }): Promise<void> {
  const { platform, store } = core.options;
  const text = card.expiresAt <= core.now() ? "Expired" : "This proposal can no longer be followed here";
  const url = core.options.roomUrl(channel.topic);
  const link = url === undefined ? undefined : { label: "Open the room", url };
  const post: Post = { parts: [{ kind: "text", text, isStrong: true }], buttons: [], link };
  if (platform.can.edits === "in place")
    await send(core, channel, () => platform.edit(channel.id, card.ref, post));
  await store.closeCard(card.id);
}

/** Nothing more will happen to it: decided, and where it was a call, answered. */
function isOver({ status, result, error }: Proposal): boolean {
  return status !== "pending" && (status !== "fulfilled" || result !== undefined || error !== undefined);
}

function render(core: BridgeCore, channel: Channel, card: Card, proposal: Proposal): Post {
  const { platform, roomUrl } = core.options;
  const post = cardPost({
    card: card.id,
    proposal,
    proposer: channel.followed?.room.peers.find(({ id }) => id === proposal.proposer),
    hasButtons: platform.can.buttons,
    isNotice: platform.can.carries === "cards",
    roomUrl: roomUrl(channel.topic),
    presses: core.options.presses,
    secrets: channel.followed?.secretsOf(proposal) ?? [""],
  });
  return fitted(core, channel, post);
}

function fitted({ options }: BridgeCore, { topic }: Channel, post: Post, leftOut = 0): Post {
  return fit(post, options.platform.can.charsMax, options.roomUrl(topic), leftOut);
}

/** One post instead of a flood. Proposals that still wait get their cards. */
async function summarise(core: BridgeCore, channel: Channel, upTo: number): Promise<void> {
  const { platform, roomUrl, name } = core.options;
  const from = channel.carried;
  let count = 0;
  const waiting: RoomEnvelope[] = [];
  for (let at = from; at < upTo; ) {
    const page = await channel.followed?.after(at);
    for (const envelope of page?.envelopes ?? []) {
      if ((envelope.seq ?? 0) > upTo) break;
      if (channel.followed?.proposal(envelope.id)?.status === "pending") waiting.push(envelope);
      else if (isForeign(core, channel, envelope) && readChat(envelope) !== undefined) count += 1;
    }
    at = page?.upTo ?? upTo;
  }
  if (count > 0) {
    const url = roomUrl(channel.topic);
    const text = `${count} messages of the room ${channel.topic} were left out here`;
    const link = url === undefined ? undefined : { label: "Read them", url };
    const post: Post = { parts: [{ kind: "text", text }], buttons: [], link };
    await send(core, channel, () => platform.post(channel.id, post, `${name}-left-out-${from}-${upTo}`));
  }
  for (const envelope of waiting) await showCard(core, channel, envelope);
  await moveTo(core, channel, upTo);
}
