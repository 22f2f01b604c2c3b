// What is shown on a platform, in no platform's markup: a platform's file escapes each text for itself. Pure.
import { visible } from "@mcpx/protocol";

export type Part =
  | { readonly kind: "text"; readonly text: string; readonly isStrong?: boolean }
  | { readonly kind: "code"; readonly text: string };

export interface Button {
  readonly verb: "approve" | "reject";
  readonly label: string;
  /** Opaque: it names a card and nothing else. */
  readonly card: string;
}

export interface Post {
  readonly parts: readonly Part[];
  readonly buttons: readonly Button[];
  readonly link?: { readonly label: string; readonly url: string } | undefined;
}

/** Line by line, with everything that hides written out: direction controls, zero-width characters and the like. */
export function shown(text: string): string {
  return text
    .split(/\r\n|\n/)
    .map(visible)
    .join("\n");
}

export function charsOf({ parts }: Post): number {
  return parts.reduce((sum, { text }) => sum + text.length + 1, 0);
}

/**
 * A post of at most so many characters. What does not fit is cut and said to be, with the way to the rest. `leftOut`: so
 * many were cut before.
 */
export function fit(post: Post, charsMax: number, readOnAt: string | undefined, leftOut = 0): Post {
  const all = charsOf(post) + leftOut;
  if (all <= charsMax) return post;
  const note = `… cut here: ${all} characters${readOnAt === undefined ? "" : `. Read all of it at ${readOnAt}`}`;
  let left = charsMax - note.length - 1;
  const parts: Part[] = [];
  for (const part of post.parts) {
    if (left <= 1) break;
    parts.push({ ...part, text: cut(part.text, left - 1) });
    left -= part.text.length + 1;
  }
  return { ...post, parts: [...parts, { kind: "text", text: note }] };
}

/** Never in the middle of a character. */
export function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const end = /[\ud800-\udbff]/.test(text[charsMax - 1] ?? "") ? charsMax - 1 : charsMax;
  return text.slice(0, Math.max(0, end));
}

/** Text with ``` fences, as people and agents write it, in parts. */
export function partsOf(text: string): Part[] {
  const pieces = text.split(/^```[^\n`]*\n([\s\S]*?)\n?^```[ \t]*$/m);
  return pieces.flatMap((piece, index): Part[] => {
    const body = withoutBlankEnds(piece);
    if (body === "") return [];
    return [index % 2 === 1 ? { kind: "code", text: body } : { kind: "text", text: body }];
  });
}

function withoutBlankEnds(text: string): string {
  let start = 0;
  let end = text.length;
  while (text[start] === "\n") start += 1;
  while (end > start && text[end - 1] === "\n") end -= 1;
  return text.slice(start, end);
}

/** For platforms without markup. */
export function plainText({ parts, link }: Post): string {
  const lines = parts.map(({ text }) => text);
  return [...lines, ...(link === undefined ? [] : [`${link.label}: ${link.url}`])].join("\n");
}
