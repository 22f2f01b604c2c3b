import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { createManualClock } from "../clock.ts";
import { createLogger } from "../logging/log.ts";
import { openState } from "../sqlite/state.ts";
import { createAudit } from "./audit.ts";
import { type ChainedRow, noHash, rowHash } from "./chain.ts";
import { exportHead, exportLine, exportStart } from "./export.ts";
import { createSqliteAuditStore } from "./store-sqlite.ts";
import { verifyExport } from "./verify.ts";

const clock = createManualClock();
const time = "2030-01-01T00:00:00.000Z";

/** Ten records as a real chain has them. */
async function chain(): Promise<ChainedRow[]> {
  const db = openState(":memory:");
  try {
    const audit = createAudit({
      store: createSqliteAuditStore(db),
      clock,
      log: createLogger({ level: "silent" }),
    });
    for (let i = 1; i <= 10; i += 1) {
      audit.record({ action: "gate.approve", actor: `anna ${i}`, detail: { i, s: `"é\n` } });
      audit.record({ action: "room.join", reason: "topic_forbidden", actor: "eve", topic: "vault" });
      await audit.flush();
      clock.advance(1_000);
    }
    return (await audit.page({ after: 0, limit: 10 })).rows;
  } finally {
    db.close();
  }
}

const rows = await chain();
const last = rows.at(-1) as ChainedRow;

/** An honest export, from this record on. */
function exported(from = 1): string[] {
  const shown = rows.slice(from - 1);
  const previous = rows[from - 2]?.hash ?? noHash;
  return [
    exportStart({ from, previous }),
    ...shown.map(exportLine),
    exportHead({ seq: last.seq, hash: last.hash, count: shown.length, time }),
  ];
}

async function* streamed(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

const verify = (lines: readonly string[]) => verifyExport(streamed(lines));
/** The line of the record with this number, changed. */
const edit = (seq: number, change: Record<string, unknown>) => (lines: string[]) =>
  lines.with(seq, JSON.stringify({ ...JSON.parse(lines[seq] ?? ""), ...change }));
/** With hashes that hold again from there on, as somebody who knows how it works would write them. */
function rehashed(lines: string[], from: number, until = 10): string[] {
  const result = [...lines];
  let previous = from === 1 ? noHash : String(JSON.parse(result[from - 1] ?? "").hash);
  for (let seq = from; seq <= until; seq += 1) {
    const row: ChainedRow = { ...JSON.parse(result[seq] ?? ""), seq };
    previous = rowHash(previous, seq, row);
    result[seq] = exportLine({ ...row, hash: previous });
  }
  return result;
}

const renumbered = (lines: string[], from: number, by: number) =>
  lines.map((line, index) => {
    const value = JSON.parse(line);
    return index > 0 && index >= from && value.seq !== undefined
      ? JSON.stringify({ ...value, seq: value.seq + by })
      : line;
  });

test("an untouched export holds, whole or from some record on, and says what it is", async () => {
  expect(await verify(exported())).toEqual({
    ok: true,
    records: 10,
    from: 1,
    previous: noHash,
    to: 10,
    head: last.hash,
    firstAt: rows[0]?.at,
    lastAt: last.at,
    time,
  });
  expect(await verify(exported(4))).toMatchObject({ ok: true, records: 7, from: 4, to: 10, head: last.hash });
  expect(await verify(exported(11))).toMatchObject({ ok: true, records: 0, from: 11, head: last.hash });
  const empty = [
    exportStart({ from: 1, previous: noHash }),
    exportHead({ seq: 0, hash: noHash, count: 0, time }),
  ];
  expect(await verify(empty)).toMatchObject({ ok: true, records: 0 });
});

type Tampering = [what: string, fault: string, at: number | undefined, (lines: string[]) => string[]];

const tamperings: Tampering[] = [
  ["another actor", "changed", 4, edit(4, { actor: "bob" })],
  ["another action", "changed", 4, edit(4, { action: "gate.reject" })],
  ["another time", "changed", 4, edit(4, { at: 5 })],
  ["a reason taken away", "changed", 4, edit(4, { reason: null })],
  ["another detail", "changed", 3, edit(3, { detail: "{}" })],
  ["another count", "changed", 4, edit(4, { count: 2 })],
  ["another hash", "changed", 4, edit(4, { hash: "a".repeat(64) })],
  ["another number", "changed", 4, edit(4, { seq: 5 })],
  ["a field that no hash covers", "changed", 4, edit(4, { note: "trust me" })],
  ["a field taken away", "changed", 4, edit(4, { topic: undefined })],
  ["a record that is none", "changed", 4, (lines) => lines.with(4, "[]")],
  [
    "a record with a hash that fits it again",
    "changed",
    5,
    (lines) => rehashed(edit(4, { actor: "b" })(lines), 4, 4),
  ],
  [
    "everything rewritten after a change",
    "changed",
    10,
    (lines) => rehashed(edit(4, { actor: "b" })(lines), 4),
  ],
  ["the last record", "changed", 10, edit(10, { actor: "bob" })],
  ["the first record", "changed", 1, edit(1, { actor: "bob" })],
  ["a record taken out", "missing", 4, (lines) => lines.toSpliced(4, 1)],
  ["three records taken out", "missing", 4, (lines) => lines.toSpliced(4, 3)],
  ["one taken out, the rest renumbered", "missing", 4, (lines) => renumbered(lines.toSpliced(4, 1), 4, -1)],
  ["three taken out, the rest renumbered", "missing", 4, (lines) => renumbered(lines.toSpliced(4, 3), 4, -3)],
  ["two swapped", "reordered", 4, (lines) => lines.with(4, lines[5] ?? "").with(5, lines[4] ?? "")],
  [
    "two swapped, each with the number of the other",
    "reordered",
    4,
    (lines) =>
      edit(5, { seq: 5 })(edit(4, { seq: 4 })(lines.with(4, lines[5] ?? "").with(5, lines[4] ?? ""))),
  ],
  ["one moved far down", "reordered", 4, (lines) => lines.toSpliced(4, 1).toSpliced(9, 0, lines[4] ?? "")],
  [
    "a key given twice",
    "changed",
    5,
    (lines) => lines.with(5, (lines[5] ?? "").replace('"actor":', '"actor":"mallory","actor":')),
  ],
  ["one put in twice", "inserted", 5, (lines) => lines.toSpliced(5, 0, lines[4] ?? "")],
  [
    "a forged one put in",
    "inserted",
    4,
    (lines) => lines.toSpliced(4, 0, edit(4, { actor: "m" })(lines)[4] ?? ""),
  ],
  ["an old one put in", "inserted", 8, (lines) => lines.toSpliced(8, 0, lines[2] ?? "")],
  [
    "one added behind the last",
    "inserted",
    11,
    (lines) => lines.toSpliced(11, 0, exportLine({ ...last, seq: 11, hash: rowHash(last.hash, 11, last) })),
  ],
  ["a line behind the end", "inserted", 11, (lines) => [...lines, lines[4] ?? ""]],
  ["the last record cut off", "cut at the end", 10, (lines) => lines.toSpliced(10, 1)],
  ["all records cut off", "cut at the end", 1, (lines) => lines.toSpliced(1, 10)],
  ["the end cut off", "cut at the end", 8, (lines) => lines.slice(0, 8)],
  ["the head alone cut off", "cut at the end", 11, (lines) => lines.slice(0, -1)],
  ["cut in the middle of a line", "cut at the end", 8, (lines) => [...lines.slice(0, 8), '{"seq":8,"at":1']],
  ["the head of another chain", "changed", 10, (lines) => lines.with(-1, headWith({ hash: "b".repeat(64) }))],
  ["a head that counts otherwise", "changed", 10, (lines) => lines.with(-1, headWith({ count: 9 }))],
  ["the first records cut off", "cut at the start", 1, (lines) => lines.toSpliced(1, 3)],
  ["the first line cut off", "cut at the start", undefined, (lines) => lines.slice(1)],
  [
    "the first records cut off, and a start that says so without their hash",
    "changed",
    4,
    (lines) => lines.toSpliced(0, 4, exportStart({ from: 4, previous: "c".repeat(64) })),
  ],
  ["a start that skips the hash", "no export", undefined, (lines) => lines.with(0, startWith({ from: 2 }))],
  ["another format", "no export", undefined, (lines) => lines.with(0, startWith({ version: 2 }))],
  ["nothing at all", "no export", undefined, () => []],
];

const headWith = (more: object) => exportHead({ seq: last.seq, hash: last.hash, count: 10, time, ...more });
const startWith = (more: object) =>
  JSON.stringify({ ...JSON.parse(exportStart({ from: 1, previous: noHash })), ...more });

test.each(tamperings)("%s: %s", async (_what, fault, at, tamper) => {
  const whole = exported();
  expect(await verify(whole)).toMatchObject({ ok: true });
  const verdict = await verify(tamper([...whole]));
  expect(verdict).toMatchObject({ ok: false, fault, ...(at !== undefined && { at }) });
});

/** What is still held when the garbage is gone. */
function heldBytes(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return process.memoryUsage().heapUsed;
}

test("a hundred thousand records are walked, and never held", async () => {
  const count = 100_000;
  let heldAtEnd = Number.POSITIVE_INFINITY;
  async function* many(): AsyncGenerator<string> {
    let previous = noHash;
    yield exportStart({ from: 1, previous });
    for (let seq = 1; seq <= count; seq += 1) {
      const hash = rowHash(previous, seq, last);
      yield exportLine({ ...last, seq, hash });
      previous = hash;
    }
    heldAtEnd = heldBytes();
    yield exportHead({ seq: count, hash: previous, count, time });
  }
  const before = heldBytes();
  expect(await verifyExport(many())).toMatchObject({ ok: true, records: count });
  expect(heldAtEnd - before).toBeLessThan(8 * 1_048_576);
});
