// The audit in a file for other places: all of it or from some time on, page by page, whole or not at all.
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { exportHead, exportLine, exportStart, syncDirectory } from "@mcpx/host";
import { Failure } from "../framework/failure.ts";
import type { AuditSource } from "./source.ts";

const pageMax = 1_000;
const noHash = "0".repeat(64);

export interface Exported {
  records: number;
  head: string;
}

/** Its lines, up to where the chain ended when it was begun. */
export async function* exportLines(
  source: AuditSource,
  { since, now }: { since: number | undefined; now: () => number },
): AsyncGenerator<string, Exported> {
  const { rows: oldest, head } = await source.page({ after: 0, limit: 1, since });
  const from = oldest[0]?.seq ?? head.seq + 1;
  yield exportStart({ from, previous: await hashBefore(source, from) });
  let count = 0;
  for (let after = from - 1; after < head.seq; ) {
    const { rows } = await source.page({ after, limit: pageMax });
    const wanted = rows.filter(({ seq }) => seq <= head.seq);
    // Records that are gone are for `verify` to find.
    if (wanted.length === 0) break;
    for (const row of wanted) yield exportLine(row);
    count += wanted.length;
    after = wanted.at(-1)?.seq ?? head.seq;
  }
  yield exportHead({ ...head, count, time: new Date(now()).toISOString() });
  return { records: count, head: head.hash };
}

async function hashBefore(source: AuditSource, seq: number): Promise<string> {
  if (seq === 1) return noHash;
  const { rows, pruned } = await source.page({ after: seq - 2, limit: 1 });
  if (pruned?.to === seq - 1) return pruned.hash;
  return rows[0]?.hash ?? noHash;
}

/** Readable for its owner alone; there under its name once all of it is on the disk. */
export async function writeExport<T>(path: string, lines: AsyncGenerator<string, T>): Promise<T> {
  checkNew(path);
  const draft = `${path}.part-${process.pid}`;
  try {
    const exported = await writeLines(draft, lines);
    renameSync(draft, path);
    syncDirectory(dirname(path));
    return exported;
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error && "code" in error)) throw error;
    const fix = "check that its directory is there, is yours and has room";
    throw new Failure(`${path} cannot be written (${error.code})`, fix, { cause: error });
  } finally {
    rmSync(draft, { force: true });
  }
}

export function checkNew(path: string): void {
  if (existsSync(path))
    throw new Failure(`${path} exists already`, "choose a new file; nothing is overwritten");
}

const chunkCharsMax = 65_536;

async function writeLines<T>(path: string, lines: AsyncGenerator<string, T>): Promise<T> {
  const file = openSync(path, "wx", 0o600);
  try {
    let text = "";
    for (;;) {
      const { done, value } = await lines.next();
      if (done !== true) text += `${value}\n`;
      if (done === true || text.length > chunkCharsMax) {
        writeFileSync(file, text);
        text = "";
      }
      if (done !== true) continue;
      fsyncSync(file);
      return value;
    }
  } finally {
    closeSync(file);
  }
}
