// Text of strangers on a terminal: everything that could steer it is shown, never passed on.

/** Control, direction and other invisible characters as escapes; the joiner inside emoji stays. */
export function visible(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n|\n/g, " ⏎ ")
    .replace(/\t/g, " ")
    .replace(/(?!\u200d)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped);
}

/** JSON text as one line that means the same. Inside JSON, bare line ends stand only between values. */
export function jsonLine(text: string, options: { isTerminal: boolean }): string {
  const line = text.replace(/[\r\n]/g, " ");
  return options.isTerminal ? line.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped) : line;
}

/** At most so many characters, cut between characters. */
export function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  return `${text.slice(0, Math.max(0, charsMax - 1)).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** At most so many characters, and how many more there are. */
export function cutWithMark(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  return `${text.slice(0, charsMax).replace(/[\ud800-\udbff]$/, "")}… ${text.length - charsMax} more`;
}

function escaped(char: string): string {
  const units = Array.from({ length: char.length }, (_, index) => char.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
