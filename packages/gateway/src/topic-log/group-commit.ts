// Hands the appends of a turn of the event loop, or of a few, to the writer together. It does not wait for those
// before: what comes during a commit waits at the writer, and shares the next one.
import { setImmediate } from "node:timers/promises";
import { McpxError } from "@mcpx/protocol";
import { type Appended, bytesInMemory, type NewEntry } from "./topic-log.ts";

export interface GroupCommit {
  append(entry: NewEntry): Promise<Appended>;
  /** Resolves once nothing waits. */
  settle(): Promise<void>;
}

interface Waiting {
  entry: NewEntry;
  resolve(appended: Appended): void;
  reject(error: unknown): void;
}

/** Turns that an append waits for others, beyond its own. */
const moreTurnsMax = 4;

/** `commit` stores all entries or none, and answers for each in the same order. */
export function createGroupCommit(
  commit: (entries: NewEntry[]) => Promise<Appended[]>,
  waitingBytesMax: number,
): GroupCommit {
  let waiting: Waiting[] = [];
  let waitingBytes = 0;
  let committing = Promise.resolve();

  async function commitTurn(): Promise<void> {
    // Whatever else this turn brings shares the commit, and the next ones while each brings more: of many envelopes
    // sent at once the first is read alone, and would have a commit and a delivery of its own.
    await setImmediate();
    for (let turn = 0, seen = 0; turn < moreTurnsMax && waiting.length > seen; turn += 1) {
      seen = waiting.length;
      await setImmediate();
    }
    const batch = waiting;
    waiting = [];
    await commitBatch(batch);
    for (const { entry } of batch) waitingBytes -= bytesInMemory(entry);
  }

  async function commitBatch(batch: Waiting[]): Promise<void> {
    try {
      const results = await commit(batch.map(({ entry }) => entry));
      if (results.length !== batch.length) throw new Error("the writer did not answer for each entry");
      results.forEach((appended, index) => {
        batch[index]?.resolve(appended);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return {
    append: (entry) =>
      new Promise((resolve, reject) => {
        const bytes = bytesInMemory(entry);
        if (waitingBytes + bytes > waitingBytesMax) {
          return reject(new McpxError("rate_limited", "the store cannot keep up", { retryAfterMs: 100 }));
        }
        waitingBytes += bytes;
        // Answers come in the order of the batches: the last one to come says that none is under way.
        if (waiting.push({ entry, resolve, reject }) === 1) committing = commitTurn();
      }),
    settle: async () => committing,
  };
}
