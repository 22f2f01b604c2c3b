// A text in which nothing hides, in parts for a page. Pure.
import { visibleText } from "@mcpx/protocol";

export interface TextPart {
  text: string;
  /** Stands for something that would not be seen. */
  isMark: boolean;
}

const lineEnd = "↵";
const plainOnly = /^[ -~]*$/;

/** `keepsLines`: lines break where they are broken. */
export function visibleParts(text: string, keepsLines = false): TextPart[] {
  return visibleText(text).map(({ text: own, mark }) =>
    mark === undefined || (keepsLines && own === "\n")
      ? { text: own, isMark: false }
      : { text: mark, isMark: true },
  );
}

/** For between quotes: nothing in it ends them, and where its lines break is named. */
export function quotedParts(text: string): TextPart[] {
  const escaped = text.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
  return visibleParts(escaped).flatMap((part) =>
    part.isMark && part.text === lineEnd ? [part, { text: "\n", isMark: false }] : [part],
  );
}

/** Letters, digits and signs that everybody has, and nothing else. */
export function isPlain(text: string): boolean {
  return plainOnly.test(text);
}

/** The beginning and the end of what is long; halves of a character stay together. */
export function cut(text: string, max: number): { head: string; hidden: number; tail: string } {
  if (text.length <= max) return { head: text, hidden: 0, tail: "" };
  const tailChars = Math.floor(max / 4);
  const end = wholeAt(text, text.length - tailChars);
  const start = wholeAt(text, max - tailChars);
  return { head: text.slice(0, start), hidden: end - start, tail: text.slice(end) };
}

function wholeAt(text: string, at: number): number {
  return /[\udc00-\udfff]/.test(text[at] ?? "") ? at - 1 : at;
}
