// One text for one JSON value (RFC 8785), so that a hash of it is a hash of what it means. Numbers that were read
// exactly are written exactly, in the same form JavaScript gives the others. Pure.
import { McpxError } from "../errors.ts";
import { numberOf } from "./exact-json.ts";
import type { JsonObject } from "./json-rpc.ts";

/** That of MCP messages. */
const depthMax = 128;
const exponentDigitsMax = 15;

/** Equal values have equal texts, different ones different texts. Throws `bad_field` or `too_deep`. */
export function canonicalJson(value: unknown): string {
  return textOf(value, 0);
}

/** `sha256:` and the base64url of the canonical text's SHA-256. */
export async function digestOf(value: unknown): Promise<string> {
  return `sha256:${await sha256(canonicalJson(value))}`;
}

/** Of the text as UTF-8, in base64url. WebCrypto, since browsers sign too. */
export async function sha256(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

function textOf(value: unknown, depth: number): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "string") return stringText(value);
  if (numberOf(value) !== undefined) return numberText(JSON.stringify(value));
  if (typeof value !== "object") throw bad(`a value of type ${typeof value}`);
  if (depth >= depthMax) throw new McpxError("too_deep", `more than ${depthMax} levels`);
  if (Array.isArray(value)) return `[${Array.from(value, (item) => textOf(item, depth + 1)).join()}]`;
  if (!isPlain(value)) throw bad("an object that is not a JSON object");
  const members = Object.keys(value)
    // By UTF-16 units, as the RFC wants it and `sort` does it.
    .sort()
    .map((key) => `${stringText(key)}:${textOf(value[key], depth + 1)}`);
  return `{${members.join()}}`;
}

/** Others may say something else of themselves (`toJSON`), or nothing at all. */
function isPlain(value: object): value is JsonObject {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function stringText(text: string): string {
  if (!text.isWellFormed()) throw bad("a text with half a character");
  return JSON.stringify(text);
}

/** JSON has no names for them, so NaN and the infinities come here as `null`. */
function numberText(text: string): string {
  const [mantissa = "", exponentText = "0", ...more] = text.toLowerCase().split("e");
  const isNegative = mantissa.startsWith("-");
  const [whole = "", part = "", ...parts] = mantissa.slice(isNegative ? 1 : 0).split(".");
  if (more.length + parts.length > 0 || !isDigits(whole) || !(part === "" || isDigits(part))) {
    throw bad("a text that is not a number");
  }
  const all = whole + part;
  const start = countZeros(all, 0, 1);
  if (start === all.length) return "0";
  const digits = all.slice(start, all.length - countZeros(all, all.length - 1, -1));
  const point = whole.length - start + readExponent(exponentText);
  return `${isNegative ? "-" : ""}${decimalText(digits, point)}`;
}

/** As JavaScript writes numbers: `point` is where the decimal point stands among the digits. */
function decimalText(digits: string, point: number): string {
  if (point > 21 || point <= -6) {
    const [first, rest] = [digits.slice(0, 1), digits.slice(1)];
    const exponent = point - 1;
    return `${first}${rest === "" ? "" : `.${rest}`}e${exponent < 0 ? "" : "+"}${exponent}`;
  }
  if (point <= 0) return `0.${"0".repeat(-point)}${digits}`;
  if (point >= digits.length) return digits.padEnd(point, "0");
  return `${digits.slice(0, point)}.${digits.slice(point)}`;
}

function readExponent(text: string): number {
  const isNegative = text.startsWith("-");
  const digits = isNegative || text.startsWith("+") ? text.slice(1) : text;
  if (!isDigits(digits)) throw bad("a text that is not a number");
  const significant = digits.slice(countZeros(digits, 0, 1));
  // Counting with it must stay exact.
  if (significant.length > exponentDigitsMax) throw bad("a number whose exponent is too large");
  return isNegative ? -Number(significant) : Number(significant);
}

function isDigits(text: string): boolean {
  return /^\d+$/.test(text);
}

function countZeros(text: string, from: number, step: 1 | -1): number {
  let count = 0;
  while (text[from + count * step] === "0") count += 1;
  return count;
}

function bad(what: string): McpxError {
  return new McpxError("bad_field", `${what} has no canonical form`);
}
