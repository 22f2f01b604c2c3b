// Reads the topic log. Each answer comes from one state of the store, because each is one statement.
import type { PostgresSession } from "@mcpx/host";
import type { Bounds, Entry, ReadOptions } from "../topic-log.ts";

export interface PostgresTopicLogReader {
  epoch(): Promise<string>;
  hasTopic(topic: string): Promise<boolean>;
  bounds(topic: string): Promise<Bounds>;
  read(topic: string, options: ReadOptions): Promise<Entry[]>;
  find(topic: string, id: string): Promise<Entry | undefined>;
  seqBefore(topic: string, time: number): Promise<number>;
  /** The last seq beyond the newest so many bytes; 0 where they are fewer. */
  seqBeyond(topic: string, bytes: number): Promise<number>;
  size(topic: string): Promise<number>;
  topics(): Promise<{ name: string; seq: number }[]>;
}

type EntryRow = [seq: number, id: string, from: string, at: number, text: string];

const entry = "seq, id, sender, at, text";
const key = "(SELECT key FROM topics WHERE name = $1)";
const known = "topics AS t JOIN topic_firsts AS f ON f.topic = t.key WHERE t.name = $1";

const epochOf = { name: "topic-log-epoch", text: "SELECT value FROM topic_log WHERE name = 'epoch'" };
const boundsOf = { name: "topics-bounds", text: `SELECT f.first, t.last FROM ${known}` };
const allTopics = { name: "topics-all", text: "SELECT name, last FROM topics ORDER BY name" };

/** From the first entry that is kept on: what a trim has left before it for a vacuum is not walked over. */
const page = (name: string, order: "ASC" | "DESC") => ({
  name,
  text: `
    SELECT ${entry} FROM envelopes
    WHERE topic = ${key} AND seq < $3::bigint
    AND seq > greatest($2::bigint, (SELECT f.first - 1 FROM ${known}))
    ORDER BY seq ${order} LIMIT $4`,
});
const oldestFirst = page("envelopes-oldest-first", "ASC");
const newestFirst = page("envelopes-newest-first", "DESC");

const byId = {
  name: "envelopes-by-id",
  text: `SELECT ${entry} FROM envelopes WHERE topic = ${key} AND id = $2`,
};

/** Halves what is kept until one seq is left: the last whose column is less than a value. */
const searchFor = (name: string, column: "at" | "bytes", value: string) => ({
  name,
  text: `
    WITH RECURSIVE place AS (
      SELECT t.key, f.first, t.last, ${value} AS value FROM ${known}
    ), search (low, high) AS (
      SELECT first - 1, last FROM place
      UNION ALL
      SELECT CASE WHEN e.${column} < place.value THEN e.seq ELSE s.low END,
        CASE WHEN e.${column} < place.value THEN s.high ELSE e.seq - 1 END
      FROM search AS s, place,
        LATERAL (SELECT seq, ${column} FROM envelopes WHERE topic = place.key AND seq = (s.low + s.high + 1) / 2) AS e
      WHERE s.low < s.high
    )
    SELECT low FROM search WHERE low = high`,
});
const beforeTime = searchFor("envelopes-before", "at", "$2::bigint");
const beyondBytes = searchFor("envelopes-beyond", "bytes", "t.bytes - $2::bigint + 1");

const sizeOf = {
  name: "topics-size",
  text: `
    SELECT t.bytes - coalesce(
      (SELECT e.bytes - octet_length(e.text) - 256 FROM envelopes AS e WHERE e.topic = t.key AND e.seq = f.first),
      t.bytes
    ) FROM ${known}`,
};

export function createPostgresReader(session: PostgresSession): PostgresTopicLogReader {
  const entriesOf = (topic: string, rows: EntryRow[]): Entry[] =>
    rows.map(([seq, id, from, at, text]) => ({ topic, seq, id, from, at, text }));
  const bounds = async (topic: string): Promise<Bounds | undefined> => {
    const [row] = await session.query<[first: number, last: number]>(boundsOf, [topic]);
    return row && { first: row[0], last: row[1] };
  };
  const numberOf = async (statement: { name: string; text: string }, values: [string, number?]) => {
    const given = values.filter((value) => value !== undefined);
    return (await session.query<[number]>(statement, given))[0]?.[0] ?? 0;
  };
  return {
    epoch: async () => {
      const [row] = await session.query<[string]>(epochOf);
      if (row === undefined) throw new Error("the store of the topic log has no epoch");
      return row[0];
    },
    hasTopic: async (topic) => (await bounds(topic)) !== undefined,
    bounds: async (topic) => (await bounds(topic)) ?? { first: 1, last: 0 },
    read: async (topic, { after = 0, before = Number.MAX_SAFE_INTEGER, limit, order }) => {
      const statement = order === "oldest_first" ? oldestFirst : newestFirst;
      return entriesOf(
        topic,
        await session.query<EntryRow>(statement, [topic, after, before, Math.max(0, limit)]),
      );
    },
    find: async (topic, id) => entriesOf(topic, await session.query<EntryRow>(byId, [topic, id]))[0],
    seqBefore: (topic, time) => numberOf(beforeTime, [topic, Math.ceil(time)]),
    seqBeyond: (topic, bytes) => numberOf(beyondBytes, [topic, bytes]),
    size: (topic) => numberOf(sizeOf, [topic]),
    topics: async () => {
      const rows = await session.query<[name: string, last: number]>(allTopics);
      return rows.map(([name, seq]) => ({ name, seq }));
    },
  };
}
