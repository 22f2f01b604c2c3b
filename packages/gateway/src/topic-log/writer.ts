// The thread that alone writes the topic log: one transaction for all that waits, so that the fsync of a commit is
// shared and never blocks the event loop. What is written is said in `tables.ts`.
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { createTables, type Trimmed } from "./tables.ts";
import { serve } from "./thread.ts";
import type { Appended, NewEntry } from "./topic-log.ts";

export interface WriterData {
  path: string;
  /** What the write-ahead log is cut to when it is begun anew; less would only have to be allocated again. */
  walBytesKept: number;
  trimRows: number;
  busyTimeoutMs: number;
  pagesMax: number | undefined;
  synchronous: "FULL" | "NORMAL" | "OFF";
}

export type WriterRequest =
  /** Answered once the store is open. */
  | { do: "open" }
  | { do: "append"; entries: NewEntry[] }
  | { do: "createTopic"; topic: string }
  | { do: "prepare"; topic: string }
  | { do: "trim"; topic: string; upTo: number }
  /** Begins the write-ahead log anew; false where somebody still needs it. */
  | { do: "restartWal" }
  | { do: "close" };

export interface WriterResults {
  open: undefined;
  append: Appended[];
  createTopic: undefined;
  prepare: undefined;
  trim: Trimmed;
  restartWal: boolean;
  close: undefined;
}

export interface WriterDone {
  result: WriterResults[keyof WriterResults];
  walBytes: number;
}

/** Appends wait meanwhile, so rather a longer write-ahead log than a long wait for a reader. */
const restartTimeoutMs = 20;

const data = workerData as WriterData;
const db = new DatabaseSync(data.path, { timeout: data.busyTimeoutMs, defensive: true });
// Checkpoints are the checkpointer's: here they would make every few hundredth commit wait for a second fsync.
db.exec(`
  PRAGMA synchronous = ${data.synchronous};
  PRAGMA fullfsync = ON;
  PRAGMA checkpoint_fullfsync = ON;
  PRAGMA wal_autocheckpoint = 0;
  PRAGMA journal_size_limit = ${data.walBytesKept};
`);
if (data.pagesMax !== undefined) db.exec(`PRAGMA max_page_count = ${data.pagesMax}`);

const tables = createTables(db, data.trimRows);

function inTransaction<T>(work: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    tables.forget();
    throw error;
  } finally {
    // SQLite may have rolled back already; a second ROLLBACK would hide the first error.
    if (db.isTransaction) db.exec("ROLLBACK");
  }
}

function walBytes(): number {
  return statSync(`${data.path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

function restartWal(): boolean {
  db.exec(`PRAGMA busy_timeout = ${restartTimeoutMs}`);
  try {
    return db.prepare("PRAGMA wal_checkpoint(RESTART)").get()?.busy === 0;
  } finally {
    db.exec(`PRAGMA busy_timeout = ${data.busyTimeoutMs}`);
  }
}

function handle(request: Exclude<WriterRequest, { do: "append" }>): WriterDone["result"] {
  switch (request.do) {
    case "open":
      return undefined;
    case "createTopic":
      inTransaction(() => tables.addTopic(request.topic));
      return undefined;
    case "prepare":
      tables.prepare(request.topic);
      return undefined;
    case "trim":
      return inTransaction(() => tables.trim(request.topic, request.upTo));
    case "restartWal":
      return restartWal();
    case "close":
      // The last connection: closing it brings everything from the write-ahead log into the store.
      db.close();
      return undefined;
  }
}

if (parentPort === null) throw new Error("writer.ts is a thread of the topic log");
// Appends that came during a commit share the next one: nobody waits for a timer, nor for the event loop.
serve<WriterRequest, WriterDone>(
  parentPort,
  (request) => request.do === "append",
  (requests) => {
    const batches = requests.filter((request) => request.do === "append").map(({ entries }) => entries);
    const results =
      batches.length > 0
        ? inTransaction(() => tables.appendAll(batches))
        : requests.filter((request) => request.do !== "append").map(handle);
    const bytes = walBytes();
    return results.map((result) => ({ result, walBytes: bytes }));
  },
);
