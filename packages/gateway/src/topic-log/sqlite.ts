// The topic log on disk, for one machine. An append resolves after the fsync of its commit, which a thread does;
// reads are answered here, from a connection that cannot write.
import { openDatabase } from "@mcpx/host";
import { isMcpxError, McpxError } from "@mcpx/protocol";
import { type CheckpointOptions, createCheckpoints } from "./checkpoints.ts";
import { createGroupCommit } from "./group-commit.ts";
import { createTopicLogReader, type TopicLogReader } from "./reader.ts";
import { topicLogStore } from "./schema.ts";
import { lastToTrim } from "./search.ts";
import { startThread, type Thread } from "./thread.ts";
import type { Retention, TopicLog } from "./topic-log.ts";
import { storeMissingBlocks } from "./upgrade.ts";
import type { WriterData, WriterDone, WriterRequest, WriterResults } from "./writer.ts";

export interface SqliteTopicLogOptions {
  path: string;
  /** Told once, when the store can no longer be trusted; from then on every append is refused. */
  onFailure?: (error: Error) => void;
  tuning?: Partial<TopicLogTuning>;
}

export interface TopicLogTuning {
  /** Memory of the appends that wait for a commit; past it they are refused. */
  waitingBytesMax: number;
  /** Growth of the write-ahead log after which it is checkpointed. */
  checkpointBytes: number;
  /** Size of the write-ahead log past which the writer stops to begin it anew. */
  walBytesMax: number;
  /** Entries removed in one transaction. */
  trimRows: number;
  /** How long the writer waits for another process that writes. */
  busyTimeoutMs: number;
  /** Pages of the store: a disk that is full, on demand. */
  pagesMax: number | undefined;
  /** What an acknowledgement promises needs FULL; less is there to show that tests notice. */
  synchronous: "FULL" | "NORMAL" | "OFF";
}

const mebibyte = 1_048_576;

const defaultTuning: TopicLogTuning = {
  waitingBytesMax: 64 * mebibyte,
  checkpointBytes: mebibyte,
  walBytesMax: 64 * mebibyte,
  // Of the largest envelopes these are 128 MiB to be freed while appends wait.
  trimRows: 500,
  busyTimeoutMs: 5_000,
  pagesMax: undefined,
  synchronous: "FULL",
};

function upgrade(path: string): void {
  const db = openDatabase(path, topicLogStore);
  try {
    storeMissingBlocks(db);
  } finally {
    db.close();
  }
}

/** For reading alone, also beside the gateway that writes it. */
export function openTopicLogReader(path: string): TopicLogReader & { close(): void } {
  const db = openDatabase(path, { ...topicLogStore, readOnly: true });
  return { ...createTopicLogReader(db), close: () => db.close() };
}

export async function createSqliteTopicLog(options: SqliteTopicLogOptions): Promise<TopicLog> {
  const { path, onFailure = () => {} } = options;
  const tuning = { ...defaultTuning, ...options.tuning };
  upgrade(path);
  // Threads last: where reading fails, none is left behind.
  const db = openDatabase(path, { ...topicLogStore, readOnly: true });
  const reader = createTopicLogReader(db);
  const threads = await startThreads({ path, ...tuning }, onFailure);
  const appends = createGroupCommit(
    (entries) => threads.write({ do: "append", entries }),
    tuning.waitingBytesMax,
  );
  let closing: Promise<void> | undefined;

  const whenOpen = async <T>(work: () => T | Promise<T>): Promise<T> => {
    if (closing !== undefined) throw new McpxError("draining", "the log is closed");
    try {
      return await work();
    } catch (error) {
      if (isMcpxError(error)) throw error;
      throw new McpxError("storage_failed", "the log does not answer", { cause: error });
    }
  };

  async function trim(topic: string, retention: Retention, now: number): Promise<number> {
    const upTo = lastToTrim(
      reader.bounds(topic),
      (time) => reader.seqBefore(topic, time),
      (bytes) => reader.seqBeyond(topic, bytes),
      retention,
      now,
    );
    let removed = 0;
    // A trim that a close cuts short is finished by the next one.
    for (let isDone = upTo < reader.bounds(topic).first; !isDone && closing === undefined; ) {
      const chunk = await threads.write({ do: "trim", topic, upTo });
      removed += chunk.removed;
      isDone = chunk.isDone;
    }
    return removed;
  }

  async function finish(): Promise<void> {
    await appends.settle();
    db.close();
    await threads.end();
  }

  return {
    epoch: reader.epoch,
    append: (entry) =>
      Number.isSafeInteger(entry.at)
        ? whenOpen(() => appends.append(entry))
        : // Past here it would be a fault of the store, which stops the log.
          Promise.reject(new RangeError(`${entry.at} is not a whole number of ms`)),
    bounds: (topic) => whenOpen(() => reader.bounds(topic)),
    read: (topic, wanted) => whenOpen(() => reader.read(topic, wanted)),
    find: (topic, id) => whenOpen(() => reader.find(topic, id)),
    seqBefore: (topic, time) => whenOpen(() => reader.seqBefore(topic, time)),
    createTopic: (topic) =>
      whenOpen(async () => {
        if (!reader.hasTopic(topic)) await threads.write({ do: "createTopic", topic });
      }),
    prepare: (topic) => {
      // An error here comes again at the next append, and is reported there.
      if (closing === undefined) threads.write({ do: "prepare", topic }).catch(() => {});
    },
    topics: () => whenOpen(() => reader.topics()),
    size: (topic) => whenOpen(() => reader.size(topic)),
    trim: (topic, retention, now) => whenOpen(() => trim(topic, retention, now)),
    close: () => {
      closing ??= finish();
      return closing;
    },
  };
}

/** The threads as the event loop sees them. They stop for good at the first fault that makes the store untrustworthy. */
interface TopicLogThreads {
  /** Rejects with `storage_full`, `rate_limited` (another process holds the store) or `storage_failed`. */
  write<Request extends WriterRequest>(request: Request): Promise<WriterResults[Request["do"]]>;
  end(): Promise<void>;
}

/** Rejects where the writer cannot open the store. */
async function startThreads(
  options: Omit<WriterData, "walBytesKept"> & CheckpointOptions,
  onFailure: (error: Error) => void,
): Promise<TopicLogThreads> {
  const data: WriterData = { ...options, walBytesKept: options.walBytesMax / 16 };
  let failure: Error | undefined;
  const fail = (message: string) => {
    if (failure !== undefined) return;
    failure = new Error(`the topic log stopped: ${message}`);
    onFailure(failure);
  };
  const writer: Thread<WriterRequest, WriterDone> = startThread("writer", data, fail);
  const checkpoints = createCheckpoints(options, writer, fail);

  async function write(request: WriterRequest): Promise<WriterDone["result"]> {
    if (failure === undefined) {
      const reply = await writer.ask(request);
      if ("done" in reply) {
        checkpoints.afterCommit(reply.done.walBytes);
        return reply.done.result;
      }
      // Where the disk is full, a checkpoint lets the write-ahead log be used again from its start.
      if (reply.fault === "full") checkpoints.begin();
      if (reply.fault !== "failed") throw passingFault(reply.fault);
      fail(reply.message);
    }
    // After a failed fsync the system may drop the pages and report success next time: nothing can be promised.
    throw new McpxError("storage_failed", "nothing is stored until the gateway is restarted", {
      cause: failure,
    });
  }

  async function end(): Promise<void> {
    await checkpoints.end();
    await writer.ask({ do: "close" });
    await writer.end();
  }

  // The first answer says that the store is open.
  const opened = await writer.ask({ do: "open" });
  if ("fault" in opened) {
    await end();
    throw new Error(`the topic log cannot be opened: ${opened.message}`);
  }
  return { write: write as TopicLogThreads["write"], end };
}

function passingFault(fault: "full" | "busy"): McpxError {
  return fault === "full"
    ? new McpxError("storage_full")
    : new McpxError("rate_limited", "the store is held by another process", { retryAfterMs: 1_000 });
}
