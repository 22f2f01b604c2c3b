// What is wrong with a text: which characters in it hide, what they are, and how much of it is no accident. And the
// same text with what hides written out, for terminals and for JSON. Pure.
import { visibleText } from "./visible-text.ts";

type HiddenKind =
  | "layout"
  | "space"
  | "control"
  | "direction control"
  | "direction mark"
  | "line separator"
  | "zero-width"
  | "variation selector"
  | "tag"
  | "filler"
  | "heaped accent"
  | "no character";

export interface HiddenCharacter {
  /** In UTF-16 units. */
  at: number;
  code: number;
  kind: HiddenKind;
}

/** The first that fits. */
const kinds: readonly (readonly [HiddenKind, RegExp])[] = [
  ["layout", /[\n\r\t]/],
  ["control", /\p{Cc}/u],
  ["direction control", /[\u202a-\u202e\u2066-\u2069]/],
  ["direction mark", /[\u061c\u200e\u200f]/],
  ["line separator", /[\u2028\u2029]/],
  ["tag", /[\u{e0000}-\u{e007f}]/u],
  ["variation selector", /[\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u],
  ["zero-width", /[\u00ad\u180e\u200b-\u200d\u2060-\u2065\ufeff]/],
  ["space", /\p{Z}/u],
  ["no character", /[\p{Cn}\p{Co}\p{Cs}]/u],
  ["filler", /[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{16fe4}\u{1d159}]/u],
];

/** What a text hides. Line ends, tabs and other spaces than the plain one are seen as space, and hide nothing. */
export function hiddenIn(text: string): HiddenCharacter[] {
  return visibleText(text)
    .filter(({ mark }) => mark !== undefined)
    .map(({ text: char, at }) => ({ at, code: char.codePointAt(0) ?? 0, kind: kindOf(char) }))
    .filter(({ kind }) => kind !== "layout" && kind !== "space");
}

function kindOf(char: string): HiddenKind {
  return kinds.find(([, shape]) => shape.test(char))?.[0] ?? "heaped accent";
}

const tag = /[\u{e0000}-\u{e007f}]/u;
/** Nobody writes four characters without a shape in a row by accident. No emoji has more than two. */
const smuggled =
  /[\u202a-\u202e\u2066-\u2069]|(?:(?![\u061c\u200e\u200f\u{e0000}-\u{e007f}])[\p{Default_Ignorable_Code_Point}\u2800\ufffc]){4}/u;

/** Behind these nothing without a shape belongs, but for soft hyphens and direction marks; a few may be an accident. */
const strayed =
  /(?<=[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Nd}\p{P}\s])(?![\u00ad\u061c\u200e\u200f])[\p{Default_Ignorable_Code_Point}\u2800\ufffc]/gu;
const strayedMax = 7;

/**
 * Whether a text says something to a model that no person sees, or shows people something else than it says: tags
 * outside of flags, direction controls, and characters without a shape, in rows or strewn among letters. A few looks at
 * each character: strangers register servers with as many tools as they like.
 */
export function isSmuggling(text: string): boolean {
  if (smuggled.test(text)) return true;
  if (!tag.test(text) && !isStrewn(text)) return false;
  const bare = text.replace(/\p{RGI_Emoji}/gv, "");
  return tag.test(bare) || isStrewn(bare);
}

function isStrewn(text: string): boolean {
  let count = 0;
  for (const _ of text.matchAll(strayed)) {
    count += 1;
    if (count > strayedMax) return true;
  }
  return false;
}

const namedMax = 5;

/** `3 hidden characters: U+200B (zero-width) at 12, …`; `undefined` where there are none. */
export function hiddenText(hidden: readonly HiddenCharacter[]): string | undefined {
  if (hidden.length === 0) return undefined;
  const named = hidden.slice(0, namedMax).map(({ at, code, kind }) => `${codeText(code)} (${kind}) at ${at}`);
  const more = hidden.length > namedMax ? `, and ${hidden.length - namedMax} more` : "";
  return `${hidden.length} hidden character${hidden.length === 1 ? "" : "s"}: ${named.join(", ")}${more}`;
}

function codeText(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** On one line, with everything that hides as an escape: `\u200b`, `\u{e0041}`. For terminals, logs and messages. */
export function visible(text: string): string {
  return spelledOut(text.replace(/\r\n|\n/g, " ⏎ ").replace(/\t/g, " "));
}

/** The same with line ends and tabs as escapes too, where it matters which of them it is. */
export function spelledOut(text: string): string {
  return joined(text, (char) =>
    char.length === 1 ? units(char) : `\\u{${char.codePointAt(0)?.toString(16)}}`,
  );
}

/** JSON text that means the same, on one line and with nothing hidden in it. */
export function visibleJson(json: string): string {
  // In JSON, bare line ends and tabs stand only between values.
  return joined(json.replace(/[\r\n\t]/g, " "), units);
}

function joined(text: string, written: (char: string) => string): string {
  return visibleText(text)
    .map((part) => (part.mark === undefined ? part.text : written(part.text)))
    .join("");
}

function units(char: string): string {
  const codes = Array.from({ length: char.length }, (_, index) => char.charCodeAt(index));
  return codes.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
