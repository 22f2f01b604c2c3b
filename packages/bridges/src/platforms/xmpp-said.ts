// What somebody said in a chat or in private, as its stanza has it. Pure.
import type { PlatformUser, Said } from "../platform.ts";
import type { XmlElement } from "./xmpp-library.ts";
import { heardReply } from "./xmpp-reply.ts";

export const corrections = "urn:xmpp:message-correct:0";

export interface SaidBy {
  /** Undefined where it was said in private. */
  readonly channel: string | undefined;
  readonly nick: string;
  readonly user: PlatformUser;
  /** As the chat has named it, where it names anything. */
  readonly given: string | undefined;
}

export function readSaid(stanza: XmlElement, { channel, nick, user, given }: SaidBy): Said | undefined {
  const body = stanza.getChildText("body");
  if (body === null) return undefined;
  const { text, replyTo } = heardReply(stanza, body);
  const isEdit = stanza.getChild("replace", corrections) !== undefined;
  return {
    channel,
    user,
    id: given ?? crypto.randomUUID(),
    text,
    ...(isEdit && { isEdit }),
    // A correction has a name of its own, and says itself what it answers.
    ref: given === undefined || isEdit ? undefined : `${given} /${nick}`,
    replyTo: channel === undefined ? undefined : replyTo,
    at: channel === undefined ? undefined : given,
  };
}
