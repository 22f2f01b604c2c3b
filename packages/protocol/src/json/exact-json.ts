// Reading JSON so that writing it again changes nothing that means anything: a number JavaScript would round or
// rewrite (2^53+1, 1.0, 1e400) stays the text it was, as `JSON.rawJSON`. Duplicate keys and blanks are not kept.
import { stringEnd } from "./scan.ts";

// TypeScript does not know these yet; Node 24 and browsers do.
interface ExactJson {
  rawJSON(text: string): object;
  isRawJSON(value: unknown): value is { rawJSON: string };
}

const exact = JSON as unknown as ExactJson;

/**
 * Numbers that may not survive, where a number can begin. Text that only looks like one costs time and no truth, but
 * what every message has ("2.0", dates) must not.
 */
const suspicious = /(?:^|[:,[\s])(?:-0|-?(?:\d{16}|\d{1,15}[.eE]))/;

/** Stands before a number that was made a string; nobody outside can guess it. Pages without TLS have no `randomUUID`. */
const mark = `\0${crypto.getRandomValues(new Uint8Array(16)).join(".")}`;
const markText = JSON.stringify(mark).slice(0, -1);

/** As `JSON.parse`, but numbers keep their text. A reviver would do the same and take ten times as long. */
export function parseExact(text: string): unknown {
  if (!suspicious.test(text)) return JSON.parse(text);
  const marked = markNumbers(text);
  return marked === text ? JSON.parse(text) : restored(JSON.parse(marked));
}

/** The text with each number that would not survive as a marked string. What is no JSON stays none. */
function markNumbers(text: string): string {
  let marked = "";
  let from = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === 0x22) i = stringEnd(text, i) - 1;
    else if (code === 0x2d || isDigit(code)) {
      const end = numberEnd(text, i);
      const number = text.slice(i, end);
      const value = Number(number);
      if (String(value) !== number) {
        // A key, or no number at all: nothing that JSON has, and a string in its place would be.
        if (Number.isNaN(value) || isBeforeColon(text, end)) return text;
        marked += `${text.slice(from, i)}${markText}${number}"`;
        from = end;
      }
      i = end - 1;
    }
  }
  return marked + text.slice(from);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Whatever a number may be made of, in any order: `Number` and `rawJSON` judge it. */
function numberEnd(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length) {
    const code = text.charCodeAt(end);
    const isPart = isDigit(code) || code === 0x2e || code === 0x2b || code === 0x2d || (code | 0x20) === 0x65;
    if (!isPart) break;
    end += 1;
  }
  return end;
}

function isBeforeColon(text: string, at: number): boolean {
  let next = at;
  while (" \t\r\n".includes(text[next] ?? "x")) next += 1;
  return text[next] === ":";
}

/** Throws a `SyntaxError` for a number that JSON does not have. */
function restored(value: unknown): unknown {
  if (typeof value === "string") {
    return value.startsWith(mark) ? exact.rawJSON(value.slice(mark.length)) : value;
  }
  if (typeof value !== "object" || value === null) return value;
  const parts = value as Record<string, unknown>;
  for (const key in parts) {
    const part = parts[key];
    if (typeof part !== "string" && typeof part !== "object") continue;
    const whole = restored(part);
    // Defined, not set: a key may be `__proto__`.
    if (whole !== part) Object.defineProperty(parts, key, { ...plain, value: whole });
  }
  return value;
}

const plain = { writable: true, enumerable: true, configurable: true };

/** A number that was read exactly, as JavaScript has it; anything else is `undefined`. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  return exact.isRawJSON(value) ? Number(value.rawJSON) : undefined;
}
