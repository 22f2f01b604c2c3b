// Matrix's message contents, both ways. Pure. What is shown is text, and the same in HTML with everything escaped.
import { isObject, type JsonObject } from "@mcpx/protocol";
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

/** What a person said; undefined for what is not said by people (notices are of programs). */
export function heardContent(
  content: JsonObject,
  permalink: string,
): { text: string; isEdit: boolean } | undefined {
  const relation = content["m.relates_to"];
  const isEdit = isObject(relation) && relation.rel_type === "m.replace";
  const shown = isEdit ? content["m.new_content"] : content;
  if (!isObject(shown) || typeof shown.body !== "string") return undefined;
  if (files.includes(shown.msgtype)) return { text: `${shown.body}: ${permalink}`, isEdit };
  if (!words.includes(shown.msgtype)) return undefined;
  const isReply = isObject(relation) && isObject(relation["m.in_reply_to"]);
  return { text: isReply ? withoutQuote(shown.body) : shown.body, isEdit };
}

/** COMPAT: older clients put what they reply to before their words. */
function withoutQuote(body: string): string {
  return body.startsWith("> <@") ? body.replace(/^(?:> [^\n]*\n)+\n?/, "") : body;
}
