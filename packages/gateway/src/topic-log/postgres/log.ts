// The topic log on PostgreSQL. An append resolves once its transaction is committed as the operator asked of the
// server: with a synchronous standby, once that has it too. One connection writes, another reads and trims.
import { PostgresFault, type PostgresTuning, storageRefusal, textArray } from "@mcpx/host";
import { isMcpxError, McpxError } from "@mcpx/protocol";
import { createGroupCommit } from "../group-commit.ts";
import { lastToTrim } from "../search.ts";
import type { NewEntry, Retention, TopicLog } from "../topic-log.ts";
import { addTopics, createEntryAppender, type EpochOf } from "./append-entries.ts";
import { openSessions, type SessionOptions } from "./open-sessions.ts";
import { createPostgresReader, type PostgresTopicLogReader } from "./reader.ts";
import { createWriteQueue } from "./write-queue.ts";

export interface PostgresTopicLogOptions extends SessionOptions {
  /** Told once, when the store can no longer be trusted; from then on every append is refused. */
  onFailure?: (error: Error) => void;
  /** Where several gateways share the store: under which epoch a topic is this one's. */
  epochOf?: EpochOf;
  tuning?: Partial<PostgresTopicLogTuning>;
}

interface PostgresTopicLogTuning extends PostgresTuning {
  /** Memory of the appends that wait for a commit; past it they are refused. */
  waitingBytesMax: number;
  /** Entries removed in one transaction. */
  trimRows: number;
}

/** Only the first entries up to a seq, and only so many: appends never wait for it, and other reads not long. */
const trimSome = {
  name: "envelopes-trim",
  text: `
    WITH range AS (
      SELECT topic, first, least($2::bigint, first + $3::bigint - 1) AS up_to FROM topic_firsts
      WHERE topic = (SELECT key FROM topics WHERE name = $1) AND first <= $2::bigint FOR UPDATE
    ), gone AS (
      DELETE FROM envelopes WHERE topic = (SELECT topic FROM range)
      AND seq >= (SELECT first FROM range) AND seq <= (SELECT up_to FROM range)
    )
    UPDATE topic_firsts AS f SET first = range.up_to + 1 FROM range WHERE f.topic = range.topic
    RETURNING range.up_to - range.first + 1, range.up_to`,
};

export async function createPostgresTopicLog(options: PostgresTopicLogOptions): Promise<TopicLog> {
  const { waitingBytesMax = 67_108_864, trimRows = 500, ...tuning } = options.tuning ?? {};
  const sessions = await openSessions(options, tuning);
  const reader = createPostgresReader(sessions.reading);
  const appender = createEntryAppender(sessions.writing, options.epochOf);
  const queue = createWriteQueue(appender.append);
  const appends = createGroupCommit(queue.append, waitingBytesMax);
  let closing: Promise<void> | undefined;

  const whenOpen = async <T>(work: () => Promise<T>): Promise<T> => {
    if (closing !== undefined) throw new McpxError("draining", "the log is closed");
    try {
      return await work();
    } catch (error) {
      throw storageRefusal(error);
    }
  };

  const trusted = stopAtFailure(options.onFailure ?? (() => {}));
  const writing = <T>(work: () => Promise<T>): Promise<T> => whenOpen(() => trusted(work));

  async function trim(topic: string, retention: Retention, now: number): Promise<number> {
    const upTo = await lastSeqToTrim(reader, topic, retention, now);
    let removed = 0;
    // A trim that a close cuts short is finished by the next one.
    for (let isDone = false; !isDone && closing === undefined; ) {
      const values = [topic, upTo, trimRows];
      const [row] = await sessions.reading.query<[removed: number, upTo: number]>(trimSome, values);
      removed += row?.[0] ?? 0;
      isDone = row === undefined || row[1] >= upTo;
    }
    return removed;
  }

  async function finish(): Promise<void> {
    await appends.settle();
    await sessions.close();
  }

  return {
    epoch: await reader.epoch(),
    append: (entry) => rejectionOf(entry) ?? writing(() => appends.append(entry)),
    bounds: (topic) => whenOpen(() => reader.bounds(topic)),
    read: (topic, wanted) => whenOpen(() => reader.read(topic, wanted)),
    find: (topic, id) => whenOpen(() => reader.find(topic, id)),
    seqBefore: (topic, time) => whenOpen(() => reader.seqBefore(topic, time)),
    createTopic: (topic) =>
      writing(async () => {
        if (!(await reader.hasTopic(topic))) await sessions.reading.query(addTopics, [textArray([topic])]);
      }),
    prepare: (topic) => {
      // An error here comes again at the next append, and is reported there.
      if (closing === undefined) appender.prepare(topic).catch(() => {});
    },
    topics: () => whenOpen(() => reader.topics()),
    size: (topic) => whenOpen(() => reader.size(topic)),
    trim: (topic, retention, now) => writing(() => trim(topic, retention, now)),
    close: () => {
      closing ??= finish();
      return closing;
    },
  };
}

/** A fault that would come again at the next append ends them all. */
function stopAtFailure(onFailure: (error: Error) => void): <T>(work: () => Promise<T>) => Promise<T> {
  let failure: Error | undefined;
  return async (work) => {
    if (failure !== undefined) throw new PostgresFault("failed", failure.message, { cause: failure });
    try {
      return await work();
    } catch (error) {
      const isPassing = isMcpxError(error) || (error instanceof PostgresFault && error.kind !== "failed");
      if (!isPassing && failure === undefined) {
        failure = new Error(`the topic log stopped: ${String(error)}`, { cause: error });
        onFailure(failure);
      }
      throw error;
    }
  };
}

/** The last seq that a retention does not keep. */
async function lastSeqToTrim(
  reader: PostgresTopicLogReader,
  topic: string,
  retention: Retention,
  now: number,
): Promise<number> {
  const { ageMs, bytes } = retention;
  const byAge = ageMs === undefined ? 0 : await reader.seqBefore(topic, now - ageMs);
  const byBytes = bytes === undefined ? 0 : await reader.seqBeyond(topic, bytes);
  const bounds = await reader.bounds(topic);
  return lastToTrim(
    bounds,
    () => byAge,
    () => byBytes,
    retention,
    now,
  );
}

/** Past here it would be a fault of the store, which stops the log. */
function rejectionOf({ at, id, from, text }: NewEntry): Promise<never> | undefined {
  if (!Number.isSafeInteger(at)) return Promise.reject(new RangeError(`${at} is not a whole number of ms`));
  if (![id, from, text].some((part) => part.includes("\0"))) return undefined;
  return Promise.reject(new RangeError("PostgreSQL stores no text with a NUL character in it"));
}
