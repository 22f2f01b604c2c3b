// What is different between two calls of one tool, value by value, as JSON pointers (RFC 6901). Bounded, and whatever is
// left out says so. Pure.
import { canonicalJson } from "./canonical-json.ts";
import { numberOf } from "./exact-json.ts";
import { isObject, type JsonObject } from "./json-rpc.ts";

/** `old` and `new` are JSON; without one, nothing was there, or nothing is. */
export interface ArgumentChange {
  path: string;
  old?: string;
  new?: string;
}

export interface ArgumentDiff {
  changes: ArgumentChange[];
  /** Changes beyond those that are listed. */
  more: number;
}

const changesMax = 50;
const textCharsMax = 300;
const pathCharsMax = 200;
/** Kept before the place where a long text begins to differ. */
const beforeChars = 60;

export function argumentDiff(before: unknown, after: unknown): ArgumentDiff {
  const diff: ArgumentDiff = { changes: [], more: 0 };
  compare(diff, before, after, "");
  return diff;
}

/** `undefined` is nothing: JSON has no such value. */
function compare(diff: ArgumentDiff, before: unknown, after: unknown, path: string): void {
  if (isMap(before) && isMap(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    for (const key of [...keys].sort()) {
      compare(diff, own(before, key), own(after, key), `${path}/${escaped(key)}`);
    }
  } else if (Array.isArray(before) && Array.isArray(after)) {
    for (let i = 0; i < Math.max(before.length, after.length); i += 1) {
      compare(diff, before[i], after[i], `${path}/${i}`);
    }
  } else add(diff, textOf(before), textOf(after), path);
}

function add(diff: ArgumentDiff, old: string | undefined, now: string | undefined, path: string): void {
  if (old === now) return;
  if (diff.changes.length >= changesMax) diff.more += 1;
  else {
    diff.changes.push({
      path: cut(path, pathCharsMax),
      ...(old !== undefined && { old: excerpt(old, now) }),
      ...(now !== undefined && { new: excerpt(now, old) }),
    });
  }
}

function isMap(value: unknown): value is JsonObject {
  return isObject(value) && numberOf(value) === undefined;
}

function own(map: JsonObject, key: string): unknown {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

/** Values that mean the same have the same text. */
function textOf(value: unknown): string | undefined {
  return value === undefined ? undefined : canonicalJson(value);
}

function escaped(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** Of a long text, what differs from the other: a change far behind must not be cut off. */
function excerpt(text: string, other = ""): string {
  if (text.length <= textCharsMax) return text;
  let at = 0;
  while (at < other.length && text[at] === other[at]) at += 1;
  const from = Math.max(0, Math.min(at, text.length) - beforeChars);
  return `${from > 0 ? "…" : ""}${cut(text.slice(from), textCharsMax)} (${text.length} characters)`;
}

function cut(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax).toWellFormed()}…`;
}
