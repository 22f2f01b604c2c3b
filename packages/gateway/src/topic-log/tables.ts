// What an append and a trim do to the tables. Seqs come from the store each time; of ids only hashes are remembered,
// brought up to that seq and forgotten after a fault. So a failed batch, or another process, cannot leave it wrong.
// Transactions are the writer's.
import type { DatabaseSync } from "node:sqlite";
import { createIdBlocks, type Grown } from "./id-blocks.ts";
import { createTopicIds } from "./ids.ts";
import { type Appended, bytesInStore, type NewEntry } from "./topic-log.ts";

export interface Trimmed {
  removed: number;
  isDone: boolean;
}

export interface Tables {
  appendAll(batches: readonly NewEntry[][]): Appended[][];
  addTopic(name: string): void;
  /** Loads the hashes that the next append to a topic needs. */
  prepare(topic: string): void;
  /** Removes a bounded number of the oldest: appends that wait get their turn in between. */
  trim(topic: string, upTo: number): Trimmed;
  /** To be told of each transaction that failed. */
  forget(): void;
}

interface Head extends Grown {
  last_at: number;
  /** Of all that was appended, trimmed or not. */
  bytes: number;
}

/** Bytes that are appended between two marks. */
const markBytes = 1_048_576;

export function createTables(db: DatabaseSync, trimRows: number): Tables {
  const addTopic = db.prepare("INSERT INTO topics (name) VALUES (?) ON CONFLICT (name) DO NOTHING");
  const headOf = db.prepare("SELECT key, last, last_at, bytes FROM topics WHERE name = ?");
  const setHead = db.prepare("UPDATE topics SET last = ?, last_at = ?, bytes = ? WHERE key = ?");
  const insert = db.prepare(
    "INSERT INTO envelopes (topic, seq, id, sender, at, digest, text) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  const earlierAt = db.prepare(
    "SELECT seq, at, sender, digest FROM envelopes WHERE topic = ? AND seq = ? AND id = ?",
  );
  const firstOf = db.prepare("SELECT seq FROM envelopes WHERE topic = ? ORDER BY seq LIMIT 1");
  const removeUpTo = db.prepare("DELETE FROM envelopes WHERE topic = ? AND seq <= ?");
  const addMark = db.prepare("INSERT INTO byte_marks (topic, bytes, seq) VALUES (?, ?, ?)");
  // The last mark before the first entry that stays tells how much was appended before it.
  const removeMarks = db.prepare(
    "DELETE FROM byte_marks WHERE topic = :key AND bytes < (SELECT max(bytes) FROM byte_marks WHERE topic = :key AND seq <= :seq)",
  );
  const topicIds = createTopicIds(db);
  const blocks = createIdBlocks(db);

  function appendAll(batches: readonly NewEntry[][]): Appended[][] {
    const heads = new Map<string, Head>();
    const appendOne = (entry: NewEntry) => {
      const head = heads.get(entry.topic) ?? loadHead(entry.topic);
      heads.set(entry.topic, head);
      return append(head, entry);
    };
    const appended = batches.map((entries) => entries.map(appendOne));
    for (const head of heads.values()) {
      setHead.run(head.last, head.last_at, head.bytes, head.key);
      blocks.store(head);
    }
    return appended;
  }

  function loadHead(topic: string): Head {
    addTopic.run(topic);
    const { key, last, last_at, bytes } = headOf.get(topic) as unknown as Head;
    return { key, last, last_at, bytes, before: last, ids: topicIds.of(key, last) };
  }

  function prepare(topic: string): void {
    const head = headOf.get(topic) as Pick<Head, "key" | "last"> | undefined;
    if (head !== undefined) topicIds.of(head.key, head.last);
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
    const before = head.bytes;
    head.bytes += bytesInStore({ text });
    if (Math.floor(head.bytes / markBytes) > Math.floor(before / markBytes)) {
      addMark.run(head.key, head.bytes, head.last);
    }
    head.ids.add(head.last, hash);
    return { outcome: "appended", seq: head.last, at: head.last_at };
  }

  function trim(topic: string, upTo: number): Trimmed {
    const key = headOf.get(topic)?.key;
    const first = key === undefined ? undefined : firstOf.get(key)?.seq;
    if (key === undefined || first === undefined || Number(first) > upTo) return { removed: 0, isDone: true };
    const end = Math.min(upTo, Number(first) + trimRows - 1);
    blocks.removeUpTo(Number(key), end);
    removeMarks.run({ key, seq: end });
    return { removed: Number(removeUpTo.run(key, end).changes), isDone: end === upTo };
  }

  return { appendAll, addTopic: (name) => void addTopic.run(name), prepare, trim, forget: topicIds.forget };
}
