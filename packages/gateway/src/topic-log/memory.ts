// The topic log in memory: for topics that keep no history, and for tests. It forgets everything when it ends, so
// each has an epoch of its own.
import { randomBytes } from "node:crypto";
import { McpxError } from "@mcpx/protocol";
import { lastToTrim, searchSeqBefore } from "./search.ts";
import {
  type Appended,
  type Bounds,
  bytesInMemory,
  bytesInStore,
  type Entry,
  type NewEntry,
  type ReadOptions,
  type Retention,
  type TopicLog,
} from "./topic-log.ts";

export interface MemoryTopicLogOptions {
  epoch?: string;
  /** Applied at each append, with the entry's `at` as the present: where nothing else trims. */
  retention?: Retention;
  /** What all entries together may take; past it the oldest of the largest topic give way. */
  bytesMax?: number;
}

/** What is held of all topics. */
interface Holding {
  bytes: number;
  /** Topics with entries. */
  readonly topics: Set<Topic>;
  /** The one that takes most, as far as was looked. */
  largest: Topic | undefined;
}

interface Topic extends Bounds {
  lastAt: number;
  bytes: number;
  bySeq: Map<number, Kept>;
  byId: Map<string, Kept>;
}

type Kept = Entry & Pick<NewEntry, "digest">;

export function createMemoryTopicLog(options: MemoryTopicLogOptions = {}): TopicLog {
  const { epoch = randomBytes(8).toString("hex"), retention, bytesMax = Infinity } = options;
  const topics = new Map<string, Topic>();
  const holding: Holding = { bytes: 0, topics: new Set(), largest: undefined };
  let isClosed = false;
  const topicOf = (name: string): Topic => {
    const known = topics.get(name);
    if (known !== undefined) return known;
    const topic: Topic = { first: 1, last: 0, lastAt: 0, bytes: 0, bySeq: new Map(), byId: new Map() };
    topics.set(name, topic);
    return topic;
  };
  const whenOpen = async <T>(work: () => T): Promise<T> => {
    if (isClosed) throw new McpxError("draining", "the log is closed");
    return work();
  };
  /** Reading remembers no topic: strangers may ask for any name. */
  const lookUp = <T>(name: string, ifUnknown: T, work: (topic: Topic) => T): Promise<T> =>
    whenOpen(() => {
      const topic = topics.get(name);
      return topic === undefined ? ifUnknown : work(topic);
    });
  return {
    epoch,
    append: (entry) =>
      whenOpen(() => {
        const topic = topicOf(entry.topic);
        const appended = append(holding, topic, entry);
        if (retention !== undefined) trim(holding, topic, retention, topic.lastAt);
        makeSpace(holding, bytesMax);
        return appended;
      }),
    bounds: (name) => lookUp(name, { first: 1, last: 0 }, ({ first, last }) => ({ first, last })),
    read: (name, wanted) => lookUp(name, [], (topic) => read(topic, wanted)),
    find: (name, id) => lookUp(name, undefined, (topic) => find(topic, id)),
    seqBefore: (name, time) => lookUp(name, 0, (topic) => seqBefore(topic, time)),
    createTopic: (name) => whenOpen(() => void topicOf(name)),
    prepare: () => {},
    topics: () =>
      whenOpen(() =>
        [...topics]
          .map(([name, { last }]) => ({ name, seq: last }))
          .sort((a, b) => (a.name < b.name ? -1 : 1)),
      ),
    size: (name) => lookUp(name, 0, storedBytes),
    trim: (name, kept, now) => lookUp(name, 0, (topic) => trim(holding, topic, kept, now)),
    close: async () => {
      isClosed = true;
    },
  };
}

function append(holding: Holding, topic: Topic, entry: NewEntry): Appended {
  const earlier = topic.byId.get(entry.id);
  if (earlier !== undefined) {
    // [X0-4-3]
    const isSame = earlier.from === entry.from && earlier.digest === entry.digest;
    return isSame ? { outcome: "duplicate", seq: earlier.seq, at: earlier.at } : { outcome: "conflict" };
  }
  topic.last += 1;
  topic.lastAt = Math.max(topic.lastAt, entry.at);
  const kept: Kept = { ...entry, seq: topic.last, at: topic.lastAt };
  topic.bySeq.set(kept.seq, kept);
  topic.byId.set(kept.id, kept);
  const bytes = bytesInMemory(kept);
  holding.bytes += bytes;
  topic.bytes += bytes;
  holding.topics.add(topic);
  if (topic.bytes > (holding.largest?.bytes ?? 0)) holding.largest = topic;
  return { outcome: "appended", seq: kept.seq, at: kept.at };
}

function read(topic: Topic, { after = 0, before = Infinity, limit, order }: ReadOptions): Entry[] {
  const low = Math.max(topic.first, after + 1);
  const high = Math.min(topic.last, before - 1);
  const step = order === "oldest_first" ? 1 : -1;
  const entries: Entry[] = [];
  for (let seq = step === 1 ? low : high; seq >= low && seq <= high && entries.length < limit; seq += step) {
    entries.push(entryOf(keptAt(topic, seq)));
  }
  return entries;
}

function find(topic: Topic, id: string): Entry | undefined {
  const kept = topic.byId.get(id);
  return kept && entryOf(kept);
}

function seqBefore(topic: Topic, time: number): number {
  return searchSeqBefore(topic, (seq) => keptAt(topic, seq).at, time);
}

function seqBeyond(topic: Topic, bytes: number): number {
  let seq = topic.last;
  for (let held = 0; seq >= topic.first && held < bytes; seq -= 1) held += bytesInStore(keptAt(topic, seq));
  return seq;
}

function storedBytes(topic: Topic): number {
  return [...topic.bySeq.values()].reduce((sum, kept) => sum + bytesInStore(kept), 0);
}

function trim(holding: Holding, topic: Topic, retention: Retention, now: number): number {
  const upTo = lastToTrim(
    topic,
    (time) => seqBefore(topic, time),
    (bytes) => seqBeyond(topic, bytes),
    retention,
    now,
  );
  const first = topic.first;
  while (topic.first <= upTo) forgetFirst(holding, topic);
  return topic.first - first;
}

/** A flood in one topic takes nothing from those that take less than their share: one of them all is always above it. */
function makeSpace(holding: Holding, bytesMax: number): void {
  while (holding.bytes > bytesMax) {
    const share = bytesMax / holding.topics.size;
    if (holding.largest === undefined || holding.largest.bytes <= share) holding.largest = largestOf(holding);
    forgetFirst(holding, holding.largest);
  }
}

function largestOf({ topics }: Holding): Topic {
  let largest: Topic | undefined;
  for (const topic of topics) if (topic.bytes > (largest?.bytes ?? 0)) largest = topic;
  if (largest === undefined) throw new Error("bytes are held, and no topic has any");
  return largest;
}

function forgetFirst(holding: Holding, topic: Topic): void {
  const kept = keptAt(topic, topic.first);
  topic.byId.delete(kept.id);
  topic.bySeq.delete(kept.seq);
  topic.first += 1;
  const bytes = bytesInMemory(kept);
  holding.bytes -= bytes;
  topic.bytes -= bytes;
  if (topic.first > topic.last) holding.topics.delete(topic);
}

function keptAt(topic: Topic, seq: number): Kept {
  const kept = topic.bySeq.get(seq);
  if (kept === undefined) throw new Error(`no entry ${seq} between ${topic.first} and ${topic.last}`);
  return kept;
}

function entryOf({ digest: _, ...entry }: Kept): Entry {
  return entry;
}
