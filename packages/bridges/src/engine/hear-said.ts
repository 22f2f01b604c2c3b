// What somebody says on the platform: a code, a decision in words, or chat for the room.
import type { Said, Verb } from "../platform.ts";
import { RoomConnectionRefusal } from "../rooms/room-connection.ts";
import type { BridgeCore } from "./bridge-core.ts";
import { takeLinkWords } from "./link-user.ts";
import { memberOf } from "./member-of.ts";
import { pressCard } from "./press-card.ts";
import { refusalText } from "./refusal-text.ts";
import { heardReply, keepSaid } from "./replies.ts";
import { saidId } from "./said-id.ts";
import { whisper } from "./whisper.ts";

const decision = /^(approve|reject)[ \t]+([0-9a-z]{8,32})(?:[ \t]+(\S.*))?$/i;

export async function hearSaid(core: BridgeCore, said: Said): Promise<void> {
  const { options, channels } = core;
  if (await takeLinkWords(core, said)) return;
  const channel = channels.get(said.channel ?? "");
  if (channel === undefined) {
    if (said.channel === undefined) await whisper(core, said.user, undefined, helpText);
    return;
  }
  const [, verb, card, reason] = (!options.platform.can.buttons && decision.exec(said.text.trim())) || [];
  if (verb !== undefined && card !== undefined) {
    const press = { channel: channel.id, user: said.user, reason };
    return pressCard(core, { ...press, card: card.toLowerCase(), verb: verb.toLowerCase() as Verb });
  }
  const member = await memberOf(options, said.user);
  if (member === undefined) {
    return whisper(
      core,
      said.user,
      channel.id,
      "You can only read here. To speak, ask the operator for a code, then write: link CODE",
    );
  }
  const place = { bridge: options.name, channel: channel.id, participant: member.participant };
  try {
    const roomConnection = await core.roomConnections.roomConnectionOf(member, channel.topic);
    const { text, answers } = await heardReply(core, channel, said);
    const id = saidId(options.secret, place, said.id);
    await roomConnection.publish({
      ...{ id, kind: "chat", payload: { text, format: "plain" } },
      ...(answers !== undefined && { correlation_id: answers }),
    });
    await keepSaid(core, channel, said, { envelope: id, answers });
  } catch (error) {
    await whisper(core, said.user, channel.id, `The room refused your message: ${refusalText(error)}`);
    if (!(error instanceof RoomConnectionRefusal))
      options.log.debug({ bridge: options.name, err: error }, "room refused a message of a platform");
  }
}

const helpText =
  "To speak and decide here as yourself, ask the operator for a code, then write: link CODE. To end that, write: unlink";
