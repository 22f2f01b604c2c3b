// What an edit changes in a text, as lines for people. Pure.
import { cut, visible } from "./visible.ts";

export interface DiffLine {
  sign: "+" | "-" | " " | "…";
  text: string;
}

const around = 2;

/** One piece: from the first line that differs to the last, and a little around it. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [old, fresh] = [linesOf(before), linesOf(after)];
  const shorter = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < shorter && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
  if (head === old.length && head === fresh.length) return [];
  const lines: DiffLine[] = [];
  const add = (sign: DiffLine["sign"], texts: readonly string[]) => {
    for (const text of texts) lines.push({ sign, text });
  };
  const from = Math.max(0, head - around);
  if (from > 0) add("…", [""]);
  add(" ", old.slice(from, head));
  add("-", old.slice(head, old.length - tail));
  add("+", fresh.slice(head, fresh.length - tail));
  const rest = old.slice(old.length - tail);
  add(" ", rest.slice(0, around));
  if (rest.length > around) add("…", [""]);
  return lines;
}

/** As it stands on a terminal. */
export function diffText({ sign, text }: DiffLine, widthMax = 100): string {
  return cut(`  ${sign} ${visible(text.replaceAll("\t", "  "))}`.trimEnd(), widthMax);
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split(/\r?\n/);
}
