// The topic log: the order and memory of every room. Siblings: `sqlite.ts` (durable, one machine), `postgres/log.ts`
// (durable, a server of its own) and `memory.ts` (topics that keep no history, tests). All pass `cases.ts`.

/** An envelope to be appended: `text` is what is relayed, without `seq` and `at`. */
export interface NewEntry {
  topic: string;
  id: string;
  from: string;
  /** Gateway receipt time, ms since 1970. Inside a topic it never goes back: an earlier one is raised. */
  at: number;
  /** Digest of what makes two envelopes with one id the same. */
  digest: string;
  text: string;
}

/** What is read. The digest stays with the log, which alone compares it. */
export interface Entry extends Omit<NewEntry, "digest"> {
  /** Dense per topic, from 1. */
  seq: number;
}

/** What an entry takes in memory at most: two bytes a character, and some for the rest of it. */
export function bytesInMemory({ text }: Pick<NewEntry, "text">): number {
  return 2 * text.length + 512;
}

export type Appended =
  | { outcome: "appended" | "duplicate"; seq: number; at: number }
  /** The id was used by another sender or for another body. */
  | { outcome: "conflict" }
  /** Nothing was stored: another gateway owns the topic. Only of a store that several gateways share. */
  | { outcome: "fenced" };

export interface Bounds {
  /** The oldest entry kept; `last + 1` where none is. */
  first: number;
  /** The newest entry ever appended; 0 in a new topic. */
  last: number;
}

export interface ReadOptions {
  /** Only entries with a greater seq. */
  after?: number;
  /** Only entries with a smaller seq. */
  before?: number;
  limit: number;
  order: "oldest_first" | "newest_first";
}

/** What an entry takes on disk: its text, and some for the rest of it. */
export function bytesInStore({ text }: Pick<NewEntry, "text">): number {
  return Buffer.byteLength(text) + 256;
}

/**
 * What is kept: within the newest `count`, not older than `ageMs`, and of the newest at least `bytes` and at most a
 * mebibyte more. A missing bound does not bind.
 */
export interface Retention {
  count?: number;
  ageMs?: number;
  bytes?: number;
}

export interface TopicLog {
  /** Changes only when the store is new. */
  readonly epoch: string;
  /**
   * Resolves once the entry is durable; entries of one topic get their seq in the order of the calls.
   * Rejects with `storage_full`, `rate_limited` or `draining`, and then nothing of the entry was kept; or with
   * `storage_failed`, and then it was not acknowledged, but a restart may find it.
   */
  append(entry: NewEntry): Promise<Appended>;
  bounds(topic: string): Promise<Bounds>;
  read(topic: string, options: ReadOptions): Promise<Entry[]>;
  find(topic: string, id: string): Promise<Entry | undefined>;
  /** The last seq received before a time; `first - 1` where none was. */
  seqBefore(topic: string, at: number): Promise<number>;
  /** Remembers a topic, so that it is listed before anything was said in it. */
  createTopic(topic: string): Promise<void>;
  /** A hint that appends are about to come: what the first of them needs is loaded meanwhile. */
  prepare(topic: string): void;
  topics(): Promise<{ name: string; seq: number }[]>;
  /** The bytes of the entries kept, a mebibyte more or less. */
  size(topic: string): Promise<number>;
  trim(topic: string, retention: Retention, now: number): Promise<number>;
  /** Finishes what was begun. */
  close(): Promise<void>;
}
