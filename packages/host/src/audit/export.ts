// The audit chain as a file for other places: one line of JSON for each record with all that its hash covers, one before
// them that says what the file is, and one after them that says where the chain ended. Pure.
import { isObject, type JsonObject, visibleJson } from "@mcpx/protocol";
import { type ChainedRow, type ChainHead, noHash } from "./chain.ts";

/** Where an export begins: the record before its first, whose hash the first one's covers. */
export interface ExportStart {
  from: number;
  previous: string;
}

export interface ExportHead extends ChainHead {
  /** How many records the export has. */
  count: number;
  /** When it was made. */
  time: string;
}

const format = "mcpx-audit";
const version = 1;
const hash = /^[0-9a-f]{64}$/;

export function exportStart({ from, previous }: ExportStart): string {
  return JSON.stringify({ format, version, from, previous });
}

/** `detail` stays the text that was hashed. */
export function exportLine(row: ChainedRow): string {
  const { seq, at, action, reason, actor, subject, topic, detail, count } = row;
  const record = { seq, at, action, reason, actor, subject, topic, detail, count, hash: row.hash };
  // Read on terminals, too: what strangers wrote must not steer them.
  return visibleJson(JSON.stringify(record));
}

export function exportHead({ seq, hash, count, time }: ExportHead): string {
  return JSON.stringify({ head: { seq, hash, count, time } });
}

/** `undefined` where the line is none. */
export function readExportStart(line: string): ExportStart | undefined {
  const value = parse(line);
  if (value?.format !== format || value.version !== version) return undefined;
  const { from, previous } = value;
  if (!isCount(from) || from < 1 || !isHash(previous) || !hasOnly(value, startKeys)) return undefined;
  // Before the first there is nothing.
  if ((from === 1) !== (previous === noHash)) return undefined;
  return asWritten(line, { from, previous }, exportStart);
}

export function readExportHead(line: string): ExportHead | undefined {
  const value = parse(line);
  const head = value?.head;
  if (value === undefined || !isObject(head) || !hasOnly(value, ["head"]) || !hasOnly(head, headKeys)) {
    return undefined;
  }
  const { seq, hash, count, time } = head;
  if (!isCount(seq) || !isHash(hash) || !isCount(count) || typeof time !== "string") return undefined;
  return asWritten(line, { seq, hash, count, time }, exportHead);
}

export function readExportRow(line: string): ChainedRow | undefined {
  const value = parse(line);
  if (value === undefined || !hasOnly(value, rowKeys)) return undefined;
  const isRow =
    [value.seq, value.at, value.count].every(isCount) &&
    typeof value.action === "string" &&
    texts.every((name) => value[name] === null || typeof value[name] === "string") &&
    isHash(value.hash);
  return isRow ? asWritten(line, value as unknown as ChainedRow, exportLine) : undefined;
}

/** Another spelling of the same may be read as something else elsewhere: of a key given twice, others take the first. */
function asWritten<T>(line: string, value: T, write: (value: T) => string): T | undefined {
  return write(value) === line ? value : undefined;
}

const startKeys = ["format", "version", "from", "previous"];
const headKeys = ["seq", "hash", "count", "time"];
const texts = ["reason", "actor", "subject", "topic", "detail"];
const rowKeys = ["seq", "at", "action", ...texts, "count", "hash"];

/** What no hash covers has no place in it. */
function hasOnly(value: JsonObject, keys: readonly string[]): boolean {
  const given = Object.keys(value);
  return given.length === keys.length && given.every((key) => keys.includes(key));
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isHash(value: unknown): value is string {
  return typeof value === "string" && hash.test(value);
}

function parse(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
