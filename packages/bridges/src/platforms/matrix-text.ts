// Matrix's message contents, both ways. Pure. What is shown is text, and the same in HTML with everything escaped.
import { isObject, type JsonObject } from "@mcpx/protocol";
import type { ReplyTo } from "../platform.ts";
import { type Part, type Post, plainText } from "../text/post.ts";

/** In the content of a card's event: which card it is. */
export const cardKey = "mcpx.card";
export const reactions = { approve: "✅", reject: "❌" } as const;

export function matrixContent(post: Post): JsonObject {
  const { parts, buttons, link } = post;
  const [button] = buttons;
  const hint = `React with ${reactions.approve} to approve, with ${reactions.reject} to reject`;
  const all: readonly Part[] = button === undefined ? parts : [...parts, { kind: "text", text: hint }];
  const html = all.map(partHtml);
  if (link !== undefined) html.push(`<a href="${escaped(link.url)}">${escaped(link.label)}</a>`);
  return {
    msgtype: "m.notice",
    body: plainText({ ...post, parts: all }),
    format: "org.matrix.custom.html",
    formatted_body: html.join(""),
    // Nobody is mentioned, whatever the text says.
    "m.mentions": {},
    ...(button !== undefined && { [cardKey]: button.card }),
  };
}

/** For clients without edits it is a message of its own. */
export function matrixEdit(ref: string, post: Post): JsonObject {
  const content = matrixContent(post);
  return {
    ...content,
    body: `* ${String(content.body)}`,
    "m.new_content": content,
    "m.relates_to": { rel_type: "m.replace", event_id: ref },
  };
}

/** In the thread of what it answers, where that is in one. */
export function matrixReply(ref: string): JsonObject {
  const [event_id, thread] = ref.split(" ");
  const relation = { "m.in_reply_to": { event_id } };
  if (thread === undefined) return { "m.relates_to": relation };
  return { "m.relates_to": { rel_type: "m.thread", event_id: thread, is_falling_back: false, ...relation } };
}

function partHtml(part: Part): string {
  if (part.kind === "code") return `<pre><code>${escaped(part.text)}</code></pre>`;
  const text = escaped(part.text).replaceAll("\n", "<br>");
  return part.isStrong ? `<p><strong>${text}</strong></p>` : `<p>${text}</p>`;
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

const files: readonly unknown[] = ["m.image", "m.file", "m.audio", "m.video"];
const words: readonly unknown[] = ["m.text", "m.emote"];

export interface HeardContent {
  text: string;
  isEdit: boolean;
  /** Of an edit: the event it replaces. */
  replaced?: string | undefined;
  /** The first event of the thread it is in. */
  thread?: string | undefined;
  replyTo?: ReplyTo | undefined;
}

/** What a person said; undefined for what is not said by people (notices are of programs). */
export function heardContent(content: JsonObject, permalink: string): HeardContent | undefined {
  const relation = content["m.relates_to"];
  const isEdit = isObject(relation) && relation.rel_type === "m.replace";
  const target = isObject(relation) && typeof relation.event_id === "string" ? relation.event_id : undefined;
  const shown = isEdit ? content["m.new_content"] : content;
  if (!isObject(shown)) return undefined;
  const said = saidIn(shown, permalink);
  if (said === undefined) return undefined;
  if (isEdit) return { text: said, isEdit, replaced: target };
  const thread = isObject(relation) && relation.rel_type === "m.thread" ? target : undefined;
  const message = parentIn(relation, thread);
  if (message === undefined) return { text: said, isEdit, thread };
  // COMPAT: older clients put what they reply to before their words.
  const [quote = ""] = said.startsWith("> <@") ? (/^(?:> [^\n]*\n)+\n?/.exec(said) ?? []) : [];
  const replyTo = { message, ...(quote !== "" && { text: quote.replace(/^> (?:<@[^>\n]*> )?/gm, "") }) };
  return { text: said.slice(quote.length), isEdit, thread, replyTo };
}

function saidIn({ msgtype, body }: JsonObject, permalink: string): string | undefined {
  if (typeof body !== "string") return undefined;
  if (files.includes(msgtype)) return `${body}: ${permalink}`;
  return words.includes(msgtype) ? body : undefined;
}

/** In a thread, clients name the last event there for older clients: then the thread is what is answered. */
function parentIn(relation: unknown, thread: string | undefined): string | undefined {
  const reply = isObject(relation) ? relation["m.in_reply_to"] : undefined;
  const isReal = isObject(relation) && (thread === undefined || relation.is_falling_back !== true);
  return isReal && isObject(reply) && typeof reply.event_id === "string" ? reply.event_id : thread;
}
