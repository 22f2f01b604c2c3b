// What has changed in a tool, as lines for people. Whatever a terminal or an eye would not show is written out, since
// what hides is what one looks for here. Pure.
import { isObject, type JsonObject, numberOf, spelledOut } from "@mcpx/protocol";

const linesMax = 200;
const lineCharsMax = 300;
const pathCharsMax = 200;
/** Kept before the place where a long text begins to differ. */
const beforeChars = 60;
const shortListChars = 200;
const depthMax = 128;

/** `- path: value` for what was, `+ path: value` for what is; nothing for what is the same. */
export function toolDiff(was: JsonObject, now: JsonObject): string[] {
  const found: Found = { lines: [], more: 0 };
  compareObjects(found, was, now, "", 0);
  return found.more === 0 ? found.lines : [...found.lines, `… and ${found.more} more lines`];
}

interface Found {
  lines: string[];
  /** Beyond those that are shown. */
  more: number;
}

/** `undefined` is nothing: JSON has no such value. */
function compare(found: Found, was: unknown, now: unknown, path: string, depth: number): void {
  if (depth >= depthMax) compareLeaves(found, was, now, path);
  else if (isMap(was) && isMap(now)) compareObjects(found, was, now, path, depth);
  else if (isLong(was) && isLong(now)) compareLists(found, was, now, path, depth);
  // What is made of others is told one by one, also where something else was.
  else if (isMade(was)) {
    compare(found, undefined, now, path, depth);
    eachPart(was, (item, inner) => compare(found, item, undefined, path + inner, depth + 1));
  } else if (isMade(now)) {
    compare(found, was, undefined, path, depth);
    eachPart(now, (item, inner) => compare(found, undefined, item, path + inner, depth + 1));
  } else compareLeaves(found, was, now, path);
}

function compareLeaves(found: Found, was: unknown, now: unknown, path: string): void {
  // Both as JSON: numbers that were read exactly are objects.
  if (JSON.stringify(was) === JSON.stringify(now)) return;
  const isOtherKind = was !== undefined && now !== undefined && typeof was !== typeof now;
  const { gone, come } = differing(textOf(was, isOtherKind), textOf(now, isOtherKind));
  for (const text of gone) add(found, "-", path, text);
  for (const text of come) add(found, "+", path, text);
}

function compareObjects(found: Found, was: JsonObject, now: JsonObject, path: string, depth: number): void {
  for (const key of [...new Set([...Object.keys(was), ...Object.keys(now)])].sort()) {
    const before = Object.hasOwn(was, key) ? was[key] : undefined;
    const after = Object.hasOwn(now, key) ? now[key] : undefined;
    compare(found, before, after, path + keyPath(key), depth + 1);
  }
}

function compareLists(
  found: Found,
  was: readonly unknown[],
  now: readonly unknown[],
  path: string,
  depth: number,
): void {
  for (let i = 0; i < Math.max(was.length, now.length); i += 1)
    compare(found, was[i], now[i], `${path}[${i}]`, depth + 1);
}

function eachPart(whole: object, each: (item: unknown, inner: string) => void): void {
  if (Array.isArray(whole)) for (const [i, item] of whole.entries()) each(item, `[${i}]`);
  else for (const key of Object.keys(whole).sort()) each((whole as JsonObject)[key], keyPath(key));
}

function add(found: Found, sign: "+" | "-", path: string, text: string): void {
  if (found.lines.length >= linesMax) found.more += 1;
  else found.lines.push(`${sign} ${cut(path.replace(/^\./, ""), pathCharsMax)}: ${text}`);
}

function isMap(value: unknown): value is JsonObject {
  return isObject(value) && numberOf(value) === undefined;
}

/** `required`, `enum`: a short list of plain values is one value for the eye. */
function isLong(value: unknown): value is unknown[] {
  if (!Array.isArray(value)) return false;
  return (
    value.some((item) => Array.isArray(item) || isMap(item)) || JSON.stringify(value).length > shortListChars
  );
}

function isMade(value: unknown): value is object {
  return isLong(value) || (isMap(value) && Object.keys(value).length > 0);
}

function keyPath(key: string): string {
  return `.${/^[\w$-]{1,64}$/.test(key) ? key : spelledOut(JSON.stringify(cut(key, pathCharsMax)))}`;
}

/** A text is quoted where it could be taken for something else. */
function textOf(value: unknown, isQuoted: boolean): string | undefined {
  if (value === undefined) return undefined;
  return typeof value === "string" && !isQuoted ? value : JSON.stringify(value);
}

/** Line by line, without those that are the same at both ends. */
function differing(
  before: string | undefined,
  after: string | undefined,
): { gone: string[]; come: string[] } {
  const [old, fresh] = [before?.split("\n") ?? [], after?.split("\n") ?? []];
  const shorter = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < shorter && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
  const [gone, come] = [old.slice(head, old.length - tail), fresh.slice(head, fresh.length - tail)];
  return {
    gone: gone.map((line, i) => excerpt(line, come[i])),
    come: come.map((line, i) => excerpt(line, gone[i])),
  };
}

/** Of a long line, what differs from the other: a change far behind must not be cut off. */
function excerpt(line: string, other = ""): string {
  if (line.length <= lineCharsMax) return spelledOut(line);
  let at = 0;
  while (at < other.length && line[at] === other[at]) at += 1;
  const from = Math.max(0, Math.min(at, line.length) - beforeChars);
  return spelledOut(`${from > 0 ? "…" : ""}${cut(line.slice(from), lineCharsMax)}`);
}

function cut(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax)}…`;
}
