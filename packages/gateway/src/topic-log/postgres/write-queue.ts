// One statement at a time: what comes while one is under way shares the next.
import { type Appended, bytesInMemory, type NewEntry } from "../topic-log.ts";

export interface WriteQueue {
  append(entries: NewEntry[]): Promise<Appended[]>;
}

interface Waiting {
  entries: NewEntry[];
  resolve(appended: Appended[]): void;
  reject(error: unknown): void;
}

/** Of one statement, where more waits than that; a batch is never divided. */
const entriesMax = 2_000;
const bytesMax = 16_777_216;

/** `write` answers for each entry in their order, and is not called again before it has. */
export function createWriteQueue(write: (entries: readonly NewEntry[]) => Promise<Appended[]>): WriteQueue {
  const waiting: Waiting[] = [];
  let isWriting = false;

  async function writeAll(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) await writeTogether(waiting.splice(0, countOf(waiting)));
    isWriting = false;
  }

  async function writeTogether(batches: Waiting[]): Promise<void> {
    try {
      const appended = await write(batches.flatMap(({ entries }) => entries));
      let at = 0;
      for (const { entries, resolve } of batches) {
        resolve(appended.slice(at, at + entries.length));
        at += entries.length;
      }
    } catch (error) {
      for (const { reject } of batches) reject(error);
    }
  }

  return {
    append: (entries) =>
      new Promise((resolve, reject) => {
        waiting.push({ entries, resolve, reject });
        if (!isWriting) void writeAll();
      }),
  };
}

/** How many of the batches share a statement: one at least. */
function countOf(waiting: readonly Waiting[]): number {
  let entries = 0;
  let bytes = 0;
  const over = waiting.findIndex((batch, index) => {
    entries += batch.entries.length;
    for (const entry of batch.entries) bytes += bytesInMemory(entry);
    return index > 0 && (entries > entriesMax || bytes > bytesMax);
  });
  return over === -1 ? waiting.length : over;
}
