// A page of the log, newest first, bounded in entries and in bytes: a thousand of the largest envelopes would be
// hundreds of MiB, and their sender may ask for them many times at once.
import type { Entry, TopicLog } from "./topic-log.ts";

export interface PageOptions {
  after?: number | undefined;
  before?: number | undefined;
  limit: number;
  /** Past it the page ends, but never before its first entry. */
  bytesMax: number;
  /** Asked for between two parts of the page. */
  turn?: (() => Promise<void> | undefined) | undefined;
}

export interface Page {
  entries: Entry[];
  /** There is something older within what was asked. */
  hasMore: boolean;
}

/**
 * So many are read at once, and four times as many while they are small: what is read without need is no more than
 * that.
 */
const stepMin = 32;
const stepMax = 128;

export async function readPage(log: TopicLog, topic: string, options: PageOptions): Promise<Page> {
  const { after = 0, limit, bytesMax } = options;
  const entries: Entry[] = [];
  let bytes = 0;
  let before = options.before ?? Number.MAX_SAFE_INTEGER;
  for (;;) {
    const step = entries.length > 0 && bytes < bytesMax / stepMax ? stepMax : stepMin;
    // One more than is wanted tells whether there are more.
    const size = Math.min(step, limit + 1 - entries.length);
    const read = await log.read(topic, { after, before, limit: size, order: "newest_first" });
    for (const entry of read) {
      bytes += Buffer.byteLength(entry.text);
      const isFull = entries.length === limit || (bytes > bytesMax && entries.length > 0);
      if (isFull) return { entries, hasMore: true };
      entries.push(entry);
    }
    const last = read.at(-1);
    if (last === undefined || read.length < size) return { entries, hasMore: false };
    before = last.seq;
    await options.turn?.();
  }
}
