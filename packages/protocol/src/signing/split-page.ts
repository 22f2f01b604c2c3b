// The texts of the envelopes in a welcome or in a page of the history, without changing a byte of them: a signature is
// of the payload's bytes.
import { stringEnd, trimmed } from "../json/scan.ts";

/** The texts of the list at this path, such as `["envelopes"]`. Trusts the text to be JSON; empty where there is none. */
export function splitList(text: string, path: readonly string[]): string[] {
  let place = { start: 0, end: text.length };
  for (const name of path) {
    // The last of two counts, as for `JSON.parse`.
    const member = membersOf(text, place).findLast(({ key }) => key === name);
    if (member === undefined) return [];
    place = member;
  }
  place = trimmed(text, place.start, place.end);
  if (text[place.start] !== "[") return [];
  return membersOf(text, place).map(({ start, end }) => text.slice(start, end));
}

interface MemberSpan {
  key: string | undefined;
  start: number;
  end: number;
}

/** The members of the object or array in this span, each without white space around it. */
function membersOf(text: string, span: { start: number; end: number }): MemberSpan[] {
  const members: MemberSpan[] = [];
  let depth = 0;
  let key: string | undefined;
  let start = span.start;
  const finish = (at: number) => {
    const value = trimmed(text, start, at);
    if (value.end > value.start) members.push({ key, ...value });
    key = undefined;
    start = at + 1;
  };
  for (let i = span.start; i < span.end; i += 1) {
    const char = text[i];
    if (char === '"') i = stringEnd(text, i) - 1;
    else if (char === "{" || char === "[") {
      depth += 1;
      if (depth === 1) start = i + 1;
    } else if (char === "}" || char === "]") {
      depth -= 1;
      if (depth === 0) finish(i);
    } else if (depth === 1 && char === ",") finish(i);
    else if (depth === 1 && char === ":") {
      key = JSON.parse(text.slice(start, i)) as string;
      start = i + 1;
    }
  }
  return members;
}
