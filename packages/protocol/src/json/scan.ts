// One linear pass over an envelope's text: its shape is checked and the place of each field is noted, so that
// what the gateway relays are the sender's own bytes. `JSON.parse` then judges the grammar and reads the values.
import { McpxError } from "../errors.ts";
import type { Limits } from "../limits.ts";
import { isObject, type JsonObject } from "./json-rpc.ts";

/** Where a value stands in the text: from `start` up to, not including, `end`. */
export interface Span {
  start: number;
  end: number;
}

export interface Scanned {
  /** The envelope's text, without white space around it. */
  text: string;
  value: JsonObject;
  /** Places of the envelope's own fields. */
  fields: ReadonlyMap<string, Span>;
  /** Places of the payload's own fields, where the payload is an object. */
  payloadFields: ReadonlyMap<string, Span>;
  /** A key given twice in the payload: an error only where the payload is JSON-RPC. */
  payloadDuplicate: string | undefined;
}

/** Reads one envelope's text, or throws naming the fault. [X0-4-1] */
export function scan(source: string, limits: Pick<Limits, "depthMax">): Scanned {
  // JSON's own white space only: what `String.trim` takes beyond it is no JSON.
  const { start, end } = trimmed(source, 0, source.length);
  const text = source.slice(start, end);
  // Before `parse`, which takes its time over deep nesting.
  const { envelope, payload } = walk(text, limits.depthMax);
  const value = parse(text);
  if (!isObject(value)) throw new McpxError("not_an_object", `got ${nameOf(value)}`);
  if (envelope.duplicate !== undefined) {
    throw new McpxError("duplicate_key", `${quoteShort(envelope.duplicate)} occurs twice in the envelope`);
  }
  return {
    text,
    value: envelope.hasEscapedKey || payload.hasEscapedKey ? readAgain(text, envelope, payload) : value,
    fields: envelope.spans,
    payloadFields: payload.spans,
    payloadDuplicate: payload.duplicate,
  };
}

/**
 * A key that an object has twice, by its dotted path: of the text's own object, and of those that `path` leads to.
 * `JSON.parse` would keep the last of the two without a word.
 */
export function doubledKey(text: string, path: readonly string[]): string | undefined {
  const { duplicate, spans } = walk(text, Number.POSITIVE_INFINITY).envelope;
  if (duplicate !== undefined) return duplicate;
  const [first = "", ...rest] = path;
  const span = spans.get(first);
  const deeper = span && doubledKey(text.slice(span.start, span.end), rest);
  return deeper === undefined ? undefined : `${first}.${deeper}`;
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The engine's own message quotes the input; strangers' bytes stay out of our answers.
    throw new McpxError("bad_json", "the frame is not valid JSON");
  }
}

/**
 * Reads field by field. V8 may take an escaped key for one with a backslash that an earlier object had in its place
 * (nodejs/node#63785): a sender could hide from us a `from` or a `method` that others would read. Deeper keys decide
 * nothing here.
 */
function readAgain(text: string, envelope: Fields, payload: Fields): JsonObject {
  const value = readFields(text, envelope.spans);
  if (isObject(value.payload)) value.payload = readFields(text, payload.spans);
  return value;
}

function readFields(text: string, spans: ReadonlyMap<string, Span>): JsonObject {
  const entries = [...spans].map(([key, { start, end }]) => [key, JSON.parse(text.slice(start, end))]);
  return Object.fromEntries(entries);
}

/** Shortens and quotes a stranger's word for an error text. */
export function quoteShort(word: string): string {
  return JSON.stringify(word.length > 40 ? `${word.slice(0, 40)}…` : word);
}

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const comma = 0x2c;
const colon = 0x3a;

/** The fields of one object while the walk passes over it. */
class Fields {
  readonly spans = new Map<string, Span>();
  duplicate: string | undefined;
  hasEscapedKey = false;
  key = "";
  readonly #text: string;
  #valueStart: number | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  string(start: number, end: number): void {
    if (this.#valueStart !== undefined) return;
    const raw = this.#text.slice(start + 1, end - 1);
    const isEscaped = raw.includes("\\");
    this.hasEscapedKey ||= isEscaped;
    this.key = isEscaped ? unescaped(raw) : raw;
  }

  colon(at: number): void {
    this.#valueStart = at + 1;
  }

  /** Ends the value that its colon began. One end per colon: that keeps hostile text linear. */
  end(at: number): void {
    if (this.#valueStart === undefined) return;
    if (this.spans.has(this.key)) this.duplicate ??= this.key;
    this.spans.set(this.key, trimmed(this.#text, this.#valueStart, at));
    this.#valueStart = undefined;
  }
}

/**
 * Finds the fields of the envelope (depth 1) and of its payload (depth 2). It trusts the text to be JSON, in which
 * colons stand in objects only; `parse` refuses all else.
 */
function walk(text: string, depthMax: number): { envelope: Fields; payload: Fields } {
  const envelope = new Fields(text);
  const payload = new Fields(text);
  // By depth: whose fields stand there. `open` is the one the walk is in, none where fields are of no interest.
  const objects: (Fields | undefined)[] = [undefined, envelope, undefined];
  let open: Fields | undefined;
  let depth = 0;
  for (let i = 0; i < text.length; i += 1) {
    switch (text.charCodeAt(i)) {
      case quote: {
        const end = stringEnd(text, i);
        open?.string(i, end);
        i = end - 1;
        break;
      }
      case openBrace:
      case openBracket:
        depth += 1;
        if (depth > depthMax) throw new McpxError("too_deep", `deeper than ${depthMax} levels`);
        if (depth === 2) objects[2] = open?.key === "payload" ? payload : undefined;
        open = objects[depth];
        break;
      case colon:
        open?.colon(i);
        break;
      case comma:
        open?.end(i);
        break;
      case closeBrace:
      case closeBracket:
        open?.end(i);
        depth -= 1;
        open = objects[depth];
        break;
    }
  }
  return { envelope, payload };
}

/** The position after the string that starts at `start`; the text's end where it never closes. */
export function stringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1) {
    let first = end;
    while (text.charCodeAt(first - 1) === backslash) first -= 1;
    if ((end - first) % 2 === 0) return end + 1;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}

function unescaped(raw: string): string {
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    // Not valid JSON: `parse` refuses the whole text.
    return raw;
  }
}

export function trimmed(text: string, start: number, end: number): Span {
  let from = start;
  let to = end;
  while (from < to && isSpace(text.charCodeAt(from))) from += 1;
  while (to > from && isSpace(text.charCodeAt(to - 1))) to -= 1;
  return { start: from, end: to };
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;
}
