// Reads JSON that others will read again, from the same bytes: whatever two readers could take for different values is
// refused. A key that an object has twice, a number that JavaScript rounds, and keys with escapes, which are read one
// by one because of nodejs/node#63785. The text has been found to be JSON; its depth is bounded. Pure. [AC-7-4]

import { isMcpxError, McpxError } from "../errors.ts";
import { canonicalJson } from "./canonical-json.ts";
import { parseExact } from "./exact-json.ts";
import { quoteShort, stringEnd, trimmed } from "./scan.ts";

/** Throws `bad_params` with what is ambiguous. */
export function readUnambiguous(source: string): unknown {
  const { start, end } = trimmed(source, 0, source.length);
  return readValue({ text: source.slice(start, end), at: 0 });
}

interface Reader {
  /** Without white space around it. */
  readonly text: string;
  at: number;
}

function readValue(reader: Reader): unknown {
  switch (charAt(reader)) {
    case "{":
      return readObject(reader);
    case "[":
      return readArray(reader);
    case '"':
      return readString(reader);
    default:
      return readWord(reader);
  }
}

function readObject(reader: Reader): unknown {
  const entries = new Map<string, unknown>();
  readMembers(reader, "}", () => {
    const key = readString(reader);
    if (entries.has(key)) throw new McpxError("bad_params", `${quoteShort(key)} occurs twice`);
    charAt(reader);
    // The colon.
    reader.at += 1;
    entries.set(key, readValue(reader));
  });
  return Object.fromEntries(entries);
}

function readArray(reader: Reader): unknown[] {
  const items: unknown[] = [];
  readMembers(reader, "]", () => items.push(readValue(reader)));
  return items;
}

/** From the sign that opens them to the one that closes them. */
function readMembers(reader: Reader, close: "}" | "]", readMember: () => void): void {
  reader.at += 1;
  while (charAt(reader) !== close) {
    if (charAt(reader) === ",") reader.at += 1;
    readMember();
  }
  reader.at += 1;
}

function readString(reader: Reader): string {
  charAt(reader);
  const start = reader.at;
  reader.at = stringEnd(reader.text, start);
  return JSON.parse(reader.text.slice(start, reader.at)) as string;
}

const wordEnd = /[\s,\]}]|$/g;

/** A number, or one of the three names. */
function readWord(reader: Reader): unknown {
  const start = reader.at;
  wordEnd.lastIndex = start;
  reader.at = wordEnd.exec(reader.text)?.index ?? reader.text.length;
  const word = reader.text.slice(start, reader.at);
  const value: unknown = JSON.parse(word);
  if (typeof value === "number" && !isSame(word, value)) {
    throw new McpxError("bad_params", `${word.slice(0, 40)} is a number that would be rounded`);
  }
  return value;
}

function isSame(word: string, value: number): boolean {
  try {
    return canonicalJson(parseExact(word)) === canonicalJson(value);
  } catch (error) {
    // An exponent that nobody can count with.
    if (isMcpxError(error)) return false;
    throw error;
  }
}

/** The next one that is no white space. */
function charAt(reader: Reader): string | undefined {
  reader.at = trimmed(reader.text, reader.at, reader.text.length).start;
  return reader.text[reader.at];
}
