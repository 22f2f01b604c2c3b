// Appends on one connection, one statement for all that waits. The statement moves the head of each topic from where we
// know it to be and stores the entries only if it was there: a head that another process has moved is read again. Where
// several gateways share the store, that the topic has not changed its owner since is a part of where we know it to be.
import { bigintArray, PostgresFault, type PostgresSession, sqlState, textArray } from "@mcpx/host";
import type { Appended, NewEntry } from "../topic-log.ts";
import { type AppendPlan, type Earlier, type Head, planAppends } from "./plan-appends.ts";

export interface EntryAppender {
  /** All entries or none; answers for each in their order. Never called again before it has answered. */
  append(entries: readonly NewEntry[]): Promise<Appended[]>;
  /** Reads the head of a topic that is there. */
  prepare(topic: string): Promise<void>;
}

/** Under which epoch a topic is ours; undefined where it is not. */
export type EpochOf = (topic: string) => number | undefined;

/** Each needs another process that writes, or an id that was used before. */
const roundsMax = 16;
const divisionByZero = "22012";
const headsMax = 50_000;

export const addTopics = {
  name: "topics-add",
  text: `
    WITH added AS (
      INSERT INTO topics (name) SELECT unnest($1::text[]) ON CONFLICT (name) DO NOTHING RETURNING key
    )
    INSERT INTO topic_firsts (topic) SELECT key FROM added`,
};

const readHeads = {
  name: "topics-heads",
  text: "SELECT name, key, last, last_at, bytes, owner_epoch FROM topics WHERE name = ANY ($1::text[])",
};

/**
 * Heads are written also where all entries were there already: so every answer waits for its own commit. The division
 * takes all of it back where one head was not where we knew it to be.
 */
const store = {
  name: "envelopes-append",
  text: `
    WITH heads AS (
      UPDATE topics AS t SET last = w.last, last_at = w.last_at, bytes = w.bytes
      FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
        AS w (key, before, last, last_at, bytes, epoch)
      WHERE t.key = w.key AND t.last = w.before AND t.owner_epoch = w.epoch
      RETURNING t.key
    ), added AS (
      INSERT INTO envelopes (topic, seq, at, bytes, id, sender, digest, text)
      SELECT e.* FROM unnest(
        $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::text[], $12::text[], $13::text[], $14::text[]
      ) AS e (topic, seq, at, bytes, id, sender, digest, text)
      JOIN heads ON heads.key = e.topic
    )
    SELECT current_setting('synchronous_commit'), 1 / (count(*) = cardinality($1))::int FROM heads`,
};

const findIds = {
  name: "envelopes-earlier",
  text: `
    SELECT w.topic, e.id, e.seq, e.at, e.sender, e.digest
    FROM unnest($1::text[], $2::text[]) AS w (topic, id)
    JOIN topics AS t ON t.name = w.topic
    JOIN envelopes AS e ON e.topic = t.key AND e.id = w.id`,
};

type HeadRow = [name: string, key: number, last: number, lastAt: number, bytes: number, epoch: number];
type EarlierRow = [topic: string, id: string, seq: number, at: number, from: string, digest: string];

/** Without `epochOf` all topics are ours: nobody else writes to this store. */
export function createEntryAppender(session: PostgresSession, epochOf?: EpochOf): EntryAppender {
  const heads = new Map<string, Head>();

  async function loadHeads(topics: readonly string[]): Promise<void> {
    const rows = await session.query<HeadRow>(readHeads, [textArray(topics)]);
    for (const [name, key, last, lastAt, bytes, epoch] of rows)
      heads.set(name, { key, last, lastAt, bytes, epoch });
  }

  /** Of a topic that came back to us, the head of before is not that of now. */
  function isOld(topic: string): boolean {
    return epochOf !== undefined && heads.get(topic)?.epoch !== epochOf(topic);
  }

  /** Those of these topics that are not known; made where they are not there. */
  async function needHeads(entries: readonly NewEntry[]): Promise<void> {
    const topics = [...new Set(entries.map(({ topic }) => topic))];
    if (heads.size > headsMax) heads.clear();
    const unknown = topics.filter((topic) => !heads.has(topic) || isOld(topic));
    if (unknown.length > 0) await loadHeads(unknown);
    const missing = topics.filter((topic) => !heads.has(topic));
    if (missing.length === 0) return;
    await session.query(addTopics, [textArray(missing)]);
    await loadHeads(missing);
  }

  function headOf(topic: string): Head | undefined {
    const head = heads.get(topic);
    if (head === undefined) throw new Error(`the topic ${topic} was made and is not there`);
    return epochOf === undefined || epochOf(topic) === head.epoch ? head : undefined;
  }

  async function commit(plan: AppendPlan): Promise<void> {
    const [row] = await session.query<[synchronousCommit: string]>(store, storeValues(plan));
    // Fit when we connected, but an operator may change it while we run.
    if (row?.[0] === "off") {
      throw new PostgresFault(
        "doubtful",
        "synchronous_commit was set to off: a crash would lose what it commits",
      );
    }
    for (const [topic, { after }] of plan.heads) heads.set(topic, after);
  }

  async function append(entries: readonly NewEntry[]): Promise<Appended[]> {
    let earlier = new Map<string, Map<string, Earlier>>();
    for (let round = 0; round < roundsMax; round += 1) {
      try {
        await needHeads(entries);
        const plan = planAppends(entries, headOf, earlier);
        if (plan.heads.size > 0) await commit(plan);
        return [...plan.appended];
      } catch (error) {
        for (const { topic } of entries) heads.delete(topic);
        if (!mayTryAgain(error)) throw error;
        if (error.kind === "duplicate") earlier = await findEarlier(session, entries);
      }
    }
    throw new PostgresFault("busy", "other processes write to the same topics");
  }

  return { append, prepare: (topic) => loadHeads([topic]) };
}

/** Nothing was stored, and it is known why. */
function mayTryAgain(error: unknown): error is PostgresFault {
  if (!(error instanceof PostgresFault)) return false;
  return ["duplicate", "conflict"].includes(error.kind) || sqlState(error.cause) === divisionByZero;
}

async function findEarlier(
  session: PostgresSession,
  entries: readonly NewEntry[],
): Promise<Map<string, Map<string, Earlier>>> {
  const values = [textArray(entries.map(({ topic }) => topic)), textArray(entries.map(({ id }) => id))];
  const found = new Map<string, Map<string, Earlier>>();
  for (const [topic, id, seq, at, from, digest] of await session.query<EarlierRow>(findIds, values)) {
    const ids = found.get(topic) ?? new Map<string, Earlier>();
    found.set(topic, ids.set(id, { seq, at, from, digest }));
  }
  return found;
}

function storeValues({ rows, heads }: AppendPlan): Buffer[] {
  const ends = [...heads.values()];
  const bigints = (of: (end: { before: Head; after: Head }) => number) => bigintArray(ends.map(of));
  return [
    bigints(({ before }) => before.key),
    bigints(({ before }) => before.last),
    bigints(({ after }) => after.last),
    bigints(({ after }) => after.lastAt),
    bigints(({ after }) => after.bytes),
    bigints(({ before }) => before.epoch),
    bigintArray(rows.map(({ topic }) => topic)),
    bigintArray(rows.map(({ seq }) => seq)),
    bigintArray(rows.map(({ at }) => at)),
    bigintArray(rows.map(({ bytes }) => bytes)),
    textArray(rows.map(({ id }) => id)),
    textArray(rows.map(({ from }) => from)),
    textArray(rows.map(({ digest }) => digest)),
    textArray(rows.map(({ text }) => text)),
  ];
}
