// Text of strangers on a terminal: everything that could steer it is shown, never passed on, and no more of it than fits.
export { visible } from "@mcpx/protocol";

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
