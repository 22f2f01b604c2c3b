// Whether an export of the audit is whole, and if not, which record is the first that is not valid, and why. It needs
// nothing but the lines, one after the other. Pure.
import { type ChainedRow, rowHash } from "./chain.ts";
import {
  type ExportHead,
  type ExportStart,
  readExportHead,
  readExportRow,
  readExportStart,
} from "./export.ts";

type Fault =
  | "changed"
  | "missing"
  | "reordered"
  | "inserted"
  | "cut at the start"
  | "cut at the end"
  | "no export";

export type ExportVerdict =
  | {
      ok: true;
      records: number;
      from: number;
      /** The hash of the record before the first. */
      previous: string;
      to: number;
      head: string;
      /** Ms since 1970; absent where it has no records. */
      firstAt?: number;
      lastAt?: number;
      /** When it was made. */
      time: string;
    }
  /** `at`: the number the first wrong record has or should have. `line`: counted from one. */
  | { ok: false; fault: Fault; at?: number; line: number; text: string };

type Failed = Extract<ExportVerdict, { ok: false }>;

/** The lines, read one at a time and never kept. */
interface Lines {
  /** `undefined` at the end. */
  next(): Promise<string | undefined>;
  number: number;
}

/** Where the walk is: what comes next, and what its hash must cover. */
interface Place {
  expected: number;
  previous: string;
}

export async function verifyExport(source: AsyncIterable<string>): Promise<ExportVerdict> {
  const lines = linesOf(source);
  const first = (await lines.next()) ?? "";
  const start = readExportStart(first);
  if (start === undefined) return badStart(first);
  const place: Place = { expected: start.from, previous: start.previous };
  let firstAt: number | undefined;
  let lastAt: number | undefined;
  for (;;) {
    const line = await lines.next();
    const row = line === undefined ? undefined : readExportRow(line);
    if (row === undefined) {
      const ending = await checkEnd(lines, line, start, place);
      if ("fault" in ending) return ending;
      const { expected, previous: head } = place;
      const times = firstAt === undefined || lastAt === undefined ? {} : { firstAt, lastAt };
      const records = expected - start.from;
      return { ok: true, records, ...start, to: expected - 1, head, ...times, time: ending.time };
    }
    if (row.seq !== place.expected || !fits(place, row)) return await explain(lines, start, place, row);
    firstAt ??= row.at;
    lastAt = row.at;
    place.expected += 1;
    place.previous = row.hash;
  }
}

function linesOf(source: AsyncIterable<string>): Lines {
  const iterator = source[Symbol.asyncIterator]();
  const lines: Lines = {
    number: 0,
    async next() {
      const { done, value } = await iterator.next();
      if (done === true) return undefined;
      lines.number += 1;
      return value;
    },
  };
  return lines;
}

/** Whether this is the record that belongs here, whatever number it has. */
function fits({ expected, previous }: Place, row: ChainedRow): boolean {
  return rowHash(previous, expected, row) === row.hash;
}

function badStart(line: string): Failed {
  const isRest = readExportRow(line) !== undefined || readExportHead(line) !== undefined;
  return isRest
    ? { ok: false, fault: "cut at the start", line: 1, text: "the line that says what this is, is missing" }
    : { ok: false, fault: "no export", line: 1, text: "it does not begin as an export of the audit does" };
}

async function checkEnd(
  lines: Lines,
  line: string | undefined,
  start: ExportStart,
  { expected, previous }: Place,
): Promise<ExportHead | Failed> {
  const number = lines.number;
  const fail = (fault: Fault, text: string, at = expected): Failed => ({
    ok: false,
    fault,
    at,
    line: number,
    text,
  });
  if (line === undefined)
    return fail("cut at the end", "the line that says where the chain ended is missing");
  const head = readExportHead(line);
  if (head === undefined) {
    const isLast = (await lines.next()) === undefined;
    return isLast
      ? fail("cut at the end", "it ends in the middle of a record")
      : fail("changed", "there is no valid record in this place");
  }
  if (head.seq >= expected) {
    const text = `the chain ended with record ${head.seq}; what comes after ${expected - 1} is missing`;
    return fail("cut at the end", text);
  }
  if (head.seq < expected - 1) {
    return fail("inserted", `the chain ended with record ${head.seq}, and this is after it`, head.seq + 1);
  }
  if (head.count !== expected - start.from)
    return fail("changed", "the last line gives another number of records than the file has", head.seq);
  if (head.hash !== previous)
    return fail("changed", "the last line gives another hash than the last record has", expected - 1);
  if ((await lines.next()) !== undefined)
    return fail("inserted", "there is text after the line that ends the export");
  return head;
}

/** A record is not valid: the rest of the file says why. */
async function explain(lines: Lines, start: ExportStart, place: Place, row: ChainedRow): Promise<Failed> {
  const { expected } = place;
  const line = lines.number;
  const fail = (fault: Fault, text: string, at = expected): Failed => ({ ok: false, fault, at, line, text });
  if (fits(place, row)) return fail("changed", `its number was changed to ${row.seq}`);
  if (row.seq < expected) return fail("inserted", `there is a second record ${row.seq} here`);
  const { next, right } = await lookFurther(lines, place);
  if (right !== undefined) {
    const isMoved = row.seq > expected || rowHash(right.hash, expected + 1, row) === row.hash;
    return isMoved
      ? fail("reordered", `it comes after record ${row.seq} in the file`)
      : fail("inserted", "another record is in its place, and it comes after that record");
  }
  if (row.seq > expected) {
    const isFirst = expected === start.from;
    const until = row.seq - 1 === expected ? "" : ` to ${row.seq - 1}`;
    return fail(isFirst ? "cut at the start" : "missing", `record ${expected}${until} is not there`);
  }
  if (next !== undefined && isRenumbered(row, next)) {
    return fail("missing", "it is not there, and those after it were given other numbers");
  }
  return fail("changed", "its hash does not match its text and the record before it");
}

/** The record after this one, and the one that belongs here, if it is anywhere. */
async function lookFurther(lines: Lines, place: Place): Promise<{ next?: ChainedRow; right?: ChainedRow }> {
  let next: ChainedRow | undefined;
  for (let line = await lines.next(); line !== undefined; line = await lines.next()) {
    const row = readExportRow(line);
    if (row === undefined) continue;
    next ??= row;
    if (fits(place, row)) return { next, right: row };
  }
  return next === undefined ? {} : { next };
}

/** So many may be missing where the rest was renumbered, to be told from a change. */
const gapMax = 1_000;

/** Two records follow each other, only with greater numbers than they have here. */
function isRenumbered(row: ChainedRow, next: ChainedRow): boolean {
  for (let gap = 1; gap <= gapMax; gap += 1) {
    if (rowHash(row.hash, next.seq + gap, next) === next.hash) return true;
  }
  return false;
}
