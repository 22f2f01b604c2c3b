// The archive of a chat (XEP-0313), page by page after a message. Who said what is the real address that the chat's server
// has put beside it; servers take away what a sender has put there. Pure.
import type { MissedPage, PlatformUser, Said } from "../platform.ts";
import type { Xml, XmlElement } from "./xmpp-library.ts";
import { readSaid } from "./xmpp-said.ts";

const archives = "urn:xmpp:mam:2";
const sets = "http://jabber.org/protocol/rsm";
const forwards = "urn:xmpp:forward:0";
const mucUser = "http://jabber.org/protocol/muc#user";
const pageSize = 100;

/** `since`: a message's name; empty for the beginning; undefined for where the archive ends now. */
export function archiveQuery(xml: Xml, queryid: string, since: string | undefined): XmlElement {
  const place = since === undefined ? [xml("before")] : since === "" ? [] : [xml("after", {}, since)];
  const max = xml("max", {}, String(since === undefined ? 1 : pageSize));
  return xml("query", { xmlns: archives, queryid }, xml("set", { xmlns: sets }, max, ...place));
}

export function archiveResult(stanza: XmlElement): XmlElement | undefined {
  return stanza.getChild("result", archives);
}

export function readArchive(
  results: readonly XmlElement[],
  answer: XmlElement,
  { chat, own, since }: { chat: string; own: string; since: string | undefined },
): MissedPage {
  const fin = answer.getChild("fin", archives);
  const at = fin?.getChild("set", sets)?.getChildText("last") ?? since ?? "";
  if (since === undefined) return { said: [], at, isMore: false };
  const said = results.flatMap((result): Said[] => {
    const message = result.getChild("forwarded", forwards)?.getChild("message");
    const nick = message?.attrs.from?.slice(chat.length + 1) ?? "";
    const user = message && sayerOf(message, nick);
    if (message === undefined || user === undefined || user.key === own) return [];
    const one = readSaid(message, { channel: chat, nick, user, given: result.attrs.id });
    return one === undefined ? [] : [one];
  });
  return { said, at, isMore: fin?.attrs.complete !== "true" && results.length > 0 };
}

/** Where two say who it was, one of them was not the server. */
function sayerOf(message: XmlElement, nick: string): PlatformUser | undefined {
  const items = message.getChildren("x", mucUser).flatMap((one) => one.getChildren("item"));
  const address = items.length === 1 ? items[0]?.attrs.jid : undefined;
  const [bare = ""] = (address ?? "").split("/", 1);
  return bare === "" ? undefined : { key: bare.toLowerCase(), name: nick };
}
