// Replies of XMPP (XEP-0461), and the quote that clients put into the words for older ones (XEP-0428). Pure.
import type { ReplyTo } from "../platform.ts";
import type { XmlElement } from "./xmpp-library.ts";

export const replies = "urn:xmpp:reply:0";
const fallbacks = "urn:xmpp:fallback:0";

/** The words without the quote, and what they answer. */
export function heardReply(
  stanza: XmlElement,
  body: string,
): { text: string; replyTo?: ReplyTo | undefined } {
  const message = stanza.getChild("reply", replies)?.attrs.id;
  if (message === undefined) return { text: body };
  const range = stanza
    .getChildren("fallback", fallbacks)
    .find(({ attrs }) => attrs.for === replies)
    ?.getChild("body")?.attrs;
  const chars = [...body];
  const [start, end] = [Number(range?.start), Number(range?.end)];
  // A range that leaves no words is no quote.
  const isGood = start === 0 && Number.isInteger(end) && end > 0 && end < chars.length;
  if (!isGood) return { text: body, replyTo: { message } };
  const quote = chars.slice(0, end).join("").replace(/^> ?/gm, "");
  return { text: chars.slice(end).join(""), replyTo: { message, text: quote } };
}
