// One linear pass over an envelope's text: its shape is checked and the place of each field is noted, so that
// what the gateway relays are the sender's own bytes. `JSON.parse` then judges the grammar and reads the values.
import { McpxError } from "./errors.ts";
import { isObject, type JsonObject } from "./json-rpc.ts";
import type { Limits } from "./limits.ts";

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
  const text = source.trim();
  const places = new Places(text, limits.depthMax);
  const value = parse(text);
  if (!isObject(value))
    throw new McpxError("not_an_object", `got ${Array.isArray(value) ? "an array" : typeof value}`);
  if (places.duplicate !== undefined) {
    throw new McpxError("duplicate_key", `${quoteShort(places.duplicate)} occurs twice in the envelope`);
  }
  return {
    text,
    value,
    fields: places.fields,
    payloadFields: places.payloadFields,
    payloadDuplicate: places.payloadDuplicate,
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The engine's own message quotes the input; strangers' bytes stay out of our answers.
    throw new McpxError("bad_json", "the frame is not valid JSON");
  }
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

/** Finds the fields of the envelope (depth 1) and of its payload (depth 2). Any input ends in linear time. */
class Places {
  readonly fields = new Map<string, Span>();
  readonly payloadFields = new Map<string, Span>();
  duplicate: string | undefined;
  payloadDuplicate: string | undefined;
  readonly #text: string;
  #key = "";
  #payloadKey = "";
  #valueStart = 0;
  #payloadValueStart = 0;

  constructor(text: string, depthMax: number) {
    this.#text = text;
    let depth = 0;
    let isKeyNext = false;
    let inPayload = false;
    let isPayloadKeyNext = false;
    for (let i = 0; i < text.length; i += 1) {
      switch (text.charCodeAt(i)) {
        case quote: {
          const end = stringEnd(text, i);
          if (depth === 1 && isKeyNext) this.#key = readKey(text, i, end);
          else if (depth === 2 && isPayloadKeyNext) this.#payloadKey = readKey(text, i, end);
          i = end - 1;
          break;
        }
        case openBrace:
        case openBracket:
          depth += 1;
          if (depth > depthMax) throw new McpxError("too_deep", `deeper than ${depthMax} levels`);
          if (depth === 1) isKeyNext = text.charCodeAt(i) === openBrace;
          if (depth === 2) {
            inPayload = this.#key === "payload" && text.charCodeAt(i) === openBrace;
            isPayloadKeyNext = inPayload;
          }
          break;
        case colon:
          if (depth === 1 && isKeyNext) {
            isKeyNext = false;
            this.#valueStart = i + 1;
          } else if (depth === 2 && isPayloadKeyNext) {
            isPayloadKeyNext = false;
            this.#payloadValueStart = i + 1;
          }
          break;
        case comma:
          if (depth === 1) {
            this.#endField(i);
            isKeyNext = true;
          } else if (depth === 2 && inPayload) {
            this.#endPayloadField(i);
            isPayloadKeyNext = true;
          }
          break;
        case closeBrace:
        case closeBracket:
          if (depth === 1 && !isKeyNext) this.#endField(i);
          if (depth === 2 && inPayload) {
            if (!isPayloadKeyNext) this.#endPayloadField(i);
            inPayload = false;
            isPayloadKeyNext = false;
          }
          depth -= 1;
          break;
      }
    }
  }

  #endField(end: number): void {
    if (this.fields.has(this.#key)) this.duplicate ??= this.#key;
    this.fields.set(this.#key, trimmed(this.#text, this.#valueStart, end));
  }

  #endPayloadField(end: number): void {
    if (this.payloadFields.has(this.#payloadKey)) this.payloadDuplicate ??= this.#payloadKey;
    this.payloadFields.set(this.#payloadKey, trimmed(this.#text, this.#payloadValueStart, end));
  }
}

/** The position after the string that starts at `start`; the text's end where it never closes. */
function stringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1) {
    let first = end;
    while (text.charCodeAt(first - 1) === backslash) first -= 1;
    if ((end - first) % 2 === 0) return end + 1;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}

function readKey(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end - 1);
  if (!raw.includes("\\")) return raw;
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    // Not valid JSON: `parse` refuses the whole text.
    return raw;
  }
}

function trimmed(text: string, start: number, end: number): Span {
  let from = start;
  let to = end;
  while (from < to && isSpace(text.charCodeAt(from))) from += 1;
  while (to > from && isSpace(text.charCodeAt(to - 1))) to -= 1;
  return { start: from, end: to };
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;
}
