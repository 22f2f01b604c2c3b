// Reads the topic log from a connection of its own. Each answer comes from one state of the store, also while
// another thread writes.
import type { DatabaseSync } from "node:sqlite";
import { createTopicIds } from "./ids.ts";
import { searchSeqBefore } from "./search.ts";
import type { Bounds, Entry, ReadOptions } from "./topic-log.ts";

export interface TopicLogReader {
  readonly epoch: string;
  hasTopic(topic: string): boolean;
  bounds(topic: string): Bounds;
  read(topic: string, options: ReadOptions): Entry[];
  find(topic: string, id: string): Entry | undefined;
  seqBefore(topic: string, time: number): number;
  /** The last seq beyond the newest so many bytes; 0 where they are fewer. */
  seqBeyond(topic: string, bytes: number): number;
  size(topic: string): number;
  topics(): { name: string; seq: number }[];
}

interface BoundsRow {
  first: number | null;
  last: number;
}

const key = "(SELECT key FROM topics WHERE name = :topic)";
const entry = "seq, id, sender, at, text";
const page = (order: string) =>
  `SELECT ${entry} FROM envelopes WHERE topic = ${key} AND seq > :after AND seq < :before
   ORDER BY seq ${order} LIMIT :limit`;

export function createTopicLogReader(db: DatabaseSync): TopicLogReader {
  const epoch = db.prepare("SELECT value FROM meta WHERE name = 'epoch'").get()?.value;
  if (typeof epoch !== "string") throw new Error("the store of the topic log has no epoch");
  // One statement, because between two of them the writer may append or trim.
  const boundsOf = db.prepare(
    `SELECT last, (SELECT seq FROM envelopes WHERE topic = topics.key ORDER BY seq LIMIT 1) AS first
     FROM topics WHERE name = :topic`,
  );
  const oldestFirst = entries(db, page("ASC"));
  const newestFirst = entries(db, page("DESC"));
  const keyOf = db.prepare("SELECT key, last FROM topics WHERE name = ?");
  const bySeq = entries(
    db,
    `SELECT ${entry} FROM envelopes WHERE topic = ${key} AND seq = :seq AND id = :id`,
  );
  const atOf = db.prepare(`SELECT at FROM envelopes WHERE topic = ${key} AND seq = :seq`);
  const beyond = db.prepare(
    `SELECT seq FROM byte_marks
     WHERE topic = ${key} AND bytes <= (SELECT bytes FROM topics WHERE name = :topic) - :bytes
     ORDER BY bytes DESC LIMIT 1`,
  );
  const sizeOf = db.prepare(
    `SELECT bytes - coalesce((
       SELECT m.bytes FROM byte_marks AS m WHERE m.topic = topics.key
       AND m.seq < coalesce((SELECT seq FROM envelopes WHERE topic = topics.key ORDER BY seq LIMIT 1), last + 1)
       ORDER BY m.bytes LIMIT 1
     ), 0) AS size FROM topics WHERE name = :topic`,
  );
  const allTopics = db.prepare("SELECT name, last AS seq FROM topics ORDER BY name");

  const ids = createTopicIds(db);

  const find = (topic: string, id: string): Entry | undefined => {
    const head = keyOf.get(topic);
    if (head === undefined) return undefined;
    const known = ids.of(Number(head.key), Number(head.last));
    return known.find(ids.hashOf(id), (seq) => bySeq({ topic, seq, id })[0]);
  };
  const bounds = (topic: string): Bounds => {
    const row = boundsOf.get({ topic }) as BoundsRow | undefined;
    return row === undefined ? { first: 1, last: 0 } : { first: row.first ?? row.last + 1, last: row.last };
  };
  return {
    epoch,
    hasTopic: (topic) => boundsOf.get({ topic }) !== undefined,
    bounds,
    read: (topic, { after = 0, before = Number.MAX_SAFE_INTEGER, limit, order }) => {
      const pageOf = order === "oldest_first" ? oldestFirst : newestFirst;
      // To SQLite a negative limit is none at all.
      return pageOf({ topic, after, before, limit: Math.max(0, limit) });
    },
    find,
    seqBefore: (topic, time) => {
      db.exec("BEGIN");
      try {
        return searchSeqBefore(bounds(topic), (seq) => Number(atOf.get({ topic, seq })?.at), time);
      } finally {
        db.exec("COMMIT");
      }
    },
    seqBeyond: (topic, bytes) => Number(beyond.get({ topic, bytes })?.seq ?? 0),
    size: (topic) => Number(sizeOf.get({ topic })?.size ?? 0),
    topics: () => allTopics.all().map(({ name, seq }) => ({ name: String(name), seq: Number(seq) })),
  };
}

type EntryRow = [seq: number, id: string, from: string, at: number, text: string];

/** Rows as arrays: the objects SQLite would make cost more than reading them. The schema is strict, so the columns have these types. */
function entries(db: DatabaseSync, sql: string) {
  const statement = db.prepare(sql);
  statement.setReturnArrays(true);
  return (values: Record<string, string | number> & { topic: string }): Entry[] =>
    (statement.all(values) as unknown as EntryRow[]).map(([seq, id, from, at, text]) => ({
      topic: values.topic,
      seq,
      id,
      from,
      at,
      text,
    }));
}
