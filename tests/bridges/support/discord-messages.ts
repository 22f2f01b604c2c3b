// A message as Discord's documentation lets it be.
import { readMarkup } from "./discord-markup.ts";

interface DiscordButton {
  type: number;
  style: number;
  label: string;
  custom_id?: string;
  url?: string;
}

export interface DiscordBody {
  content?: string;
  embeds?: { description?: string }[];
  components?: { type: number; components: DiscordButton[] }[];
  allowed_mentions?: { parse: string[] };
  nonce?: string;
  enforce_nonce?: boolean;
  flags?: number;
  message_reference?: { message_id: string; fail_if_not_exists: boolean };
}

const keys = [
  ...["content", "embeds", "components", "allowed_mentions", "nonce", "enforce_nonce", "flags"],
  "message_reference",
];

export function faultsOfMessage(body: DiscordBody): string[] {
  const { content = "", embeds = [], components = [], nonce = "", allowed_mentions: mentions } = body;
  const faults = Object.keys(body)
    .filter((key) => !keys.includes(key))
    .map((key) => `unknown key ${key}`);
  if (content === "" && embeds.length === 0) faults.push("an empty message");
  if (content.length > 2_000) faults.push("content has more than 2000 characters");
  if (embeds.length > 10) faults.push("more than 10 embeds");
  if (embeds.some(({ description = "" }) => description.length > 4_096)) faults.push("an embed is too long");
  if (components.length > 5) faults.push("more than 5 rows");
  if (nonce.length > 25) faults.push("the nonce has more than 25 characters");
  // Without it, everything in the text that looks like a mention is one.
  if (mentions === undefined || mentions.parse.length > 0) faults.push("mentions are on");
  return [...faults, ...components.flatMap(faultsOfRow), ...readMarkup(textOf(body)).faults];
}

function faultsOfRow({ type, components }: { type: number; components: DiscordButton[] }): string[] {
  const ids = components.flatMap(({ custom_id }) => custom_id ?? []);
  const faults = type !== 1 || components.length === 0 || components.length > 5 ? ["a bad row"] : [];
  if (new Set(ids).size !== ids.length) faults.push("a custom_id is there twice");
  for (const { type: kind, style, label, custom_id: id, url } of components) {
    if (kind !== 2 || label.length === 0 || label.length > 80) faults.push("a bad button");
    const isLink = style === 5 && url !== undefined && id === undefined && url.length <= 512;
    const isButton = style >= 1 && style <= 4 && id !== undefined && url === undefined && id.length <= 100;
    if (!isLink && !isButton) faults.push("a bad button");
  }
  return faults;
}

function textOf({ content = "", embeds = [] }: DiscordBody): string {
  return [content, ...embeds.map(({ description = "" }) => description)]
    .filter((one) => one !== "")
    .join("\n");
}

/** What a person reads, without the buttons. */
export function shownText(body: DiscordBody): string {
  return readMarkup(textOf(body)).shown;
}
