// Slack's markup, both ways. Pure. What is shown is rich text, whose elements Slack takes letter for letter: nothing in it
// is markup, a mention or an emoji.
import { replaceBetween } from "@mcpx/protocol";
import { type Part, type Post, plainText } from "../text/post.ts";

/** What `chat.postMessage` and `chat.update` are given. */
export interface SlackMessage {
  /** For notifications and screen readers, beside the blocks. */
  text: string;
  blocks: SlackBlock[];
}

type SlackBlock =
  | { type: "rich_text"; elements: SlackRichElement[] }
  | { type: "actions"; elements: SlackButton[] };

interface SlackRichElement {
  type: "rich_text_section" | "rich_text_preformatted";
  elements: { type: "text"; text: string; style?: { bold: true } }[];
}

interface SlackButton {
  type: "button";
  action_id: string;
  text: { type: "plain_text"; text: string };
  value?: string;
  url?: string;
  style?: "primary" | "danger";
}

export function slackMessage(post: Post): SlackMessage {
  const { buttons, link } = post;
  const elements: SlackButton[] = buttons.map(({ verb, label, card }) => ({
    type: "button",
    action_id: verb,
    text: { type: "plain_text", text: label },
    value: card,
    style: verb === "approve" ? "primary" : "danger",
  }));
  if (link !== undefined) {
    elements.push({
      type: "button",
      action_id: "open",
      text: { type: "plain_text", text: link.label },
      url: link.url,
    });
  }
  const rich: SlackBlock = { type: "rich_text", elements: richText(post.parts) };
  return {
    text: escaped(plainText(post)),
    blocks: elements.length === 0 ? [rich] : [rich, { type: "actions", elements }],
  };
}

/** Lines of text that follow each other are one section: Slack puts sections beside each other. */
function richText(parts: readonly Part[]): SlackRichElement[] {
  const made: SlackRichElement[] = [];
  for (const part of parts) {
    if (part.text === "") continue;
    if (part.kind === "code") {
      made.push({ type: "rich_text_preformatted", elements: [{ type: "text", text: part.text }] });
      continue;
    }
    const last = made.at(-1);
    const isNext = last?.type === "rich_text_section";
    const element = {
      type: "text" as const,
      text: isNext ? `\n${part.text}` : part.text,
      ...(part.isStrong && { style: { bold: true as const } }),
    };
    if (isNext) last.elements.push(element);
    else made.push({ type: "rich_text_section", elements: [element] });
  }
  return made.length > 0 ? made : [{ type: "rich_text_section", elements: [{ type: "text", text: " " }] }];
}

/** The three characters that begin markup in a message's text. */
export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** What a person wrote, as they saw it: `<@U1>` and its like as words, then the three characters. */
export function heardText(text: string): string {
  return replaceBetween(text, ["<", ">"], readMarkup)
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}

function readMarkup(inside: string): string {
  if (inside === "" || /[<\n]/.test(inside)) return `<${inside}>`;
  const at = inside.indexOf("|");
  const [target, label] = at === -1 ? [inside, undefined] : [inside.slice(0, at), inside.slice(at + 1)];
  if (target.startsWith("@")) return `@${label ?? target.slice(1)}`;
  if (target.startsWith("#")) return `#${label ?? target.slice(1)}`;
  if (target.startsWith("!")) return label ?? `@${target.slice(1).split("^")[0]}`;
  return label === undefined || label === target || target.endsWith(`//${label}`)
    ? target
    : `${label} (${target})`;
}
