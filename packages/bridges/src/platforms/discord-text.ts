// Discord's markup, both ways. Pure. What is shown is escaped so that nothing of it is markup, a mention or an emoji.
import { replaceBetween } from "@mcpx/protocol";
import type { Part, Post } from "../text/post.ts";

/** What a message is made of; the same keys for a new one and for an edit. */
export interface DiscordMessage {
  content: string;
  embeds: { description: string }[];
  components: { type: 1; components: DiscordButton[] }[];
  allowed_mentions: { parse: [] };
}

interface DiscordButton {
  type: 2;
  /** 3 green, 4 red, 5 a link. */
  style: 3 | 4 | 5;
  label: string;
  custom_id?: string;
  url?: string;
}

const contentCharsMax = 2_000;
const urlCharsMax = 512;

export function discordMessage({ parts, buttons, link }: Post): DiscordMessage {
  const made: DiscordButton[] = buttons.map(({ verb, label, card }) => ({
    type: 2,
    style: verb === "approve" ? 3 : 4,
    label,
    custom_id: `${verb}:${card}`,
  }));
  const isButton = link !== undefined && link.url.length <= urlCharsMax;
  if (isButton) made.push({ type: 2, style: 5, label: link.label, url: link.url });
  const lines = parts.map(partMarkup);
  if (link !== undefined && !isButton) lines.push(escaped(`${link.label}: ${link.url}`));
  const text = lines.join("\n");
  const isShort = text.length <= contentCharsMax;
  return {
    content: isShort ? text : "",
    // Room for twice as much, where much had to be escaped.
    embeds: isShort ? [] : [{ description: text }],
    components: made.length === 0 ? [] : [{ type: 1, components: made }],
    allowed_mentions: { parse: [] },
  };
}

function partMarkup(part: Part): string {
  // Nothing can be escaped in a block of code: what would end it is shown as text.
  if (part.kind === "code")
    return part.text.includes("```") ? escaped(part.text) : `\`\`\`\n${part.text}\n\`\`\``;
  return part.isStrong && part.text !== "" ? `**${escaped(part.text)}**` : escaped(part.text);
}

const address = /(https?:\/\/[\w.~:/?#@!$&+,;=%-]{1,2048})/;

/** Addresses stay addresses, without a preview: `<https://…>`. A full stop behind one belongs to the sentence. */
export function escaped(text: string): string {
  return text
    .split(address)
    .map((piece, index) => {
      if (index % 2 === 0) return withoutMarkup(piece);
      let end = piece.length;
      while (/[.~:?@!$+,;%]/.test(piece.charAt(end - 1))) end -= 1;
      return `<${piece.slice(0, end)}>${withoutMarkup(piece.slice(end))}`;
    })
    .join("");
}

function withoutMarkup(text: string): string {
  return text.replace(/[\\`*_~|<>#+@:[\]()-]/g, "\\$&").replace(/^(\s*\d+)\./gm, "$1\\.");
}

/** What a person wrote, as they saw it. */
export function heardText(text: string, names: ReadonlyMap<string, string>): string {
  return replaceBetween(text, ["<", ">"], (inside) => {
    const id = inside.replace(/^(?:@[!&]?|#)/, "");
    if (/^\d+$/.test(id) && id !== inside) {
      if (inside.startsWith("#")) return `#${id}`;
      return `@${inside.startsWith("@&") ? id : (names.get(id) ?? id)}`;
    }
    const [emoji] = /^:\w+:(?=\d+$)/.exec(inside.replace(/^a(?=:)/, "")) ?? [];
    return emoji ?? `<${inside}>`;
  });
}
