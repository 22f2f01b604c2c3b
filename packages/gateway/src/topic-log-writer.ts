// The thread that alone writes the topic log: one transaction a batch, so that the fsync of a commit is shared and
// never blocks the event loop. Seqs come from the store each time; of ids it remembers hashes, which are brought up
// to that seq and forgotten after a fault. So a failed batch, or another process, cannot leave it wrong.
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { blockLength, type IdHashes } from "./id-hashes.ts";
import type { Appended, NewEntry } from "./topic-log.ts";
import { createTopicIds } from "./topic-log-ids.ts";
import { serve } from "./topic-log-thread.ts";

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
  | { do: "trim"; topic: string; upTo: number }
  /** Begins the write-ahead log anew; false where somebody still needs it. */
  | { do: "restartWal" }
  | { do: "close" };

export interface WriterResults {
  open: undefined;
  append: Appended[];
  createTopic: undefined;
  trim: { removed: number; isDone: boolean };
  restartWal: boolean;
  close: undefined;
}

export interface WriterDone {
  result: WriterResults[keyof WriterResults];
  walBytes: number;
}

interface Head {
  key: number;
  last: number;
  last_at: number;
  /** Where the batch began. */
  before: number;
  ids: IdHashes;
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

const addTopic = db.prepare("INSERT INTO topics (name) VALUES (?) ON CONFLICT (name) DO NOTHING");
const headOf = db.prepare("SELECT key, last, last_at FROM topics WHERE name = ?");
const setHead = db.prepare("UPDATE topics SET last = ?, last_at = ? WHERE key = ?");
const insert = db.prepare(
  "INSERT INTO envelopes (topic, seq, id, sender, at, digest, text) VALUES (?, ?, ?, ?, ?, ?, ?)",
);
const earlierAt = db.prepare(
  "SELECT seq, at, sender, digest FROM envelopes WHERE topic = ? AND seq = ? AND id = ?",
);
const firstOf = db.prepare("SELECT seq FROM envelopes WHERE topic = ? ORDER BY seq LIMIT 1");
const removeUpTo = db.prepare("DELETE FROM envelopes WHERE topic = ? AND seq <= ?");
const lastBlockOf = db.prepare("SELECT max(last) AS last FROM id_blocks WHERE topic = ?");
const addBlock = db.prepare("INSERT INTO id_blocks (topic, last, hashes) VALUES (?, ?, ?)");
const removeBlocksUpTo = db.prepare("DELETE FROM id_blocks WHERE topic = ? AND last <= ?");
const topicIds = createTopicIds(db);

function appendAll(entries: readonly NewEntry[]): Appended[] {
  const heads = new Map<string, Head>();
  const appended = entries.map((entry) => {
    const head = heads.get(entry.topic) ?? loadHead(entry.topic);
    heads.set(entry.topic, head);
    return append(head, entry);
  });
  for (const head of heads.values()) {
    setHead.run(head.last, head.last_at, head.key);
    storeBlocks(head);
  }
  return appended;
}

function loadHead(topic: string): Head {
  addTopic.run(topic);
  const { key, last, last_at } = headOf.get(topic) as unknown as Head;
  return { key, last, last_at, before: last, ids: topicIds.of(key, last) };
}

function append(head: Head, { id, from, at, digest, text }: NewEntry): Appended {
  const hash = topicIds.hashOf(id);
  const earlier = head.ids.find(hash, (seq) => earlierAt.get(head.key, seq, id));
  if (earlier !== undefined) {
    // [X0-4-3]
    if (earlier.sender !== from || earlier.digest !== digest) return { outcome: "conflict" };
    return { outcome: "duplicate", seq: Number(earlier.seq), at: Number(earlier.at) };
  }
  head.last += 1;
  head.last_at = Math.max(at, head.last_at);
  insert.run(head.key, head.last, id, from, head.last_at, digest, text);
  head.ids.add(head.last, hash);
  return { outcome: "appended", seq: head.last, at: head.last_at };
}

/** The first append past the end of a block stores it, and those before that are missing. */
function storeBlocks({ key, last, before, ids }: Head): void {
  if (Math.floor(before / blockLength) === Math.floor(last / blockLength)) return;
  const stored = lastBlockOf.get(key)?.last ?? ids.first - 1 - ((ids.first - 1) % blockLength);
  for (let end = Number(stored) + blockLength; end <= last; end += blockLength) {
    addBlock.run(key, end, ids.block(end));
  }
}

/** Removes a bounded number of the oldest: appends that wait get their turn in between. */
function trim(topic: string, upTo: number): WriterResults["trim"] {
  const key = headOf.get(topic)?.key;
  const first = key === undefined ? undefined : firstOf.get(key)?.seq;
  if (key === undefined || first === undefined || Number(first) > upTo) return { removed: 0, isDone: true };
  const end = Math.min(upTo, Number(first) + data.trimRows - 1);
  removeBlocksUpTo.run(key, end);
  return { removed: Number(removeUpTo.run(key, end).changes), isDone: end === upTo };
}

function inTransaction<T>(work: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    topicIds.forget();
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

function handle(request: WriterRequest): WriterDone["result"] {
  switch (request.do) {
    case "open":
      return undefined;
    case "append":
      return inTransaction(() => appendAll(request.entries));
    case "createTopic":
      inTransaction(() => addTopic.run(request.topic));
      return undefined;
    case "trim":
      return inTransaction(() => trim(request.topic, request.upTo));
    case "restartWal":
      return restartWal();
    case "close":
      // The last connection: closing it brings everything from the write-ahead log into the store.
      db.close();
      return undefined;
  }
}

if (parentPort === null) throw new Error("topic-log-writer.ts is a thread of the topic log");
serve<WriterRequest, WriterDone>(parentPort, (request) => ({
  result: handle(request),
  walBytes: walBytes(),
}));
