// Block Kit as its documentation has it: what a message may hold, and what a person reads of it.

interface TextElement {
  type: string;
  text: string;
  style?: Record<string, boolean>;
}

interface SlackElement {
  type: string;
  elements?: TextElement[];
  action_id?: string;
  text?: { type: string; text: string };
  value?: string;
  url?: string;
  style?: string;
}

export interface SlackBlock {
  type: string;
  block_id?: string;
  elements: SlackElement[];
}

const richKinds = ["rich_text_section", "rich_text_preformatted"];

export function faultsOfBlocks(blocks: readonly SlackBlock[]): string[] {
  const faults = blocks.length > 50 ? ["more than 50 blocks"] : [];
  for (const { type, elements } of blocks) {
    if (!Array.isArray(elements) || elements.length === 0) faults.push(`${type} has no elements`);
    else if (type === "rich_text") faults.push(...elements.flatMap(faultsOfRichText));
    else if (type === "actions") faults.push(...faultsOfActions(elements));
    else faults.push(`unknown block ${type}`);
  }
  return faults;
}

function faultsOfRichText({ type, elements = [] }: SlackElement): string[] {
  if (!richKinds.includes(type)) return [`unknown rich text ${type}`];
  if (elements.length === 0) return [`${type} is empty`];
  return elements.flatMap((one) => {
    if (one.type !== "text" || one.text.length === 0) return [`${one.type} without text`];
    if (type === "rich_text_preformatted" && one.style !== undefined) return ["a style in preformatted text"];
    return Object.keys(one.style ?? {}).some((key) => !["bold", "italic", "strike", "code"].includes(key))
      ? ["unknown style"]
      : [];
  });
}

function faultsOfActions(elements: readonly SlackElement[]): string[] {
  const ids = elements.map(({ action_id }) => action_id);
  const faults = elements.length > 25 ? ["more than 25 elements"] : [];
  if (new Set(ids).size !== ids.length) faults.push("an action_id is there twice");
  for (const { type, text, action_id = "", value, url, style } of elements) {
    if (type !== "button") faults.push(`unknown element ${type}`);
    if (text?.type !== "plain_text" || text.text.length === 0 || text.text.length > 75)
      faults.push("a bad label");
    if (action_id.length === 0 || action_id.length > 255) faults.push("a bad action_id");
    if (value !== undefined && (value.length === 0 || value.length > 2_000)) faults.push("a bad value");
    if (url !== undefined && (!/^https?:\/\//.test(url) || url.length > 3_000)) faults.push("a bad url");
    if (style !== undefined && style !== "primary" && style !== "danger") faults.push("a bad style");
  }
  return faults;
}

/** What a person reads, without the buttons. */
export function shownText(blocks: readonly SlackBlock[]): string {
  return blocks
    .filter(({ type }) => type === "rich_text")
    .flatMap(({ elements }) => elements.map((one) => (one.elements ?? []).map(({ text }) => text).join("")))
    .join("\n");
}

export function buttonsOf(blocks: readonly SlackBlock[]): SlackElement[] {
  return blocks.flatMap(({ type, elements }) => (type === "actions" ? elements : []));
}
