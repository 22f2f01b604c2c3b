// Finds the entry of an id without an index on disk, which would cost a random page for each append. The hashes of a
// topic's ids are kept in memory, loaded when the topic is first asked for from blocks that the writer stores; rows
// since the last block, or since another process wrote, are read. A hash is a hint, the row decides.
import { hash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { blockLength, IdHashes } from "./id-hashes.ts";

export interface TopicIds {
  hashOf(id: string): number;
  /** The hashes of a topic, complete up to `last`. */
  of(topic: number, last: number): IdHashes;
  /** What was in memory may be wrong: all is loaded again. */
  forget(): void;
}

/** Past it the topics used longest ago are forgotten, and loaded again when they are needed. */
const bytesMax = 64 * 1_048_576;

export function createTopicIds(db: DatabaseSync): TopicIds {
  // Secret: who could foresee hashes could make ids that share one, and have all of them compared at each append.
  const salt = db.prepare("SELECT value FROM meta WHERE name = 'id_salt'").get()?.value;
  if (typeof salt !== "string") throw new Error("the store of the topic log has no salt");
  const firstOf = db.prepare("SELECT seq FROM envelopes WHERE topic = ? ORDER BY seq LIMIT 1");
  const idsOf = db.prepare("SELECT seq, id FROM envelopes WHERE topic = ? AND seq > ? AND seq <= ?");
  const blocksOf = db.prepare(
    "SELECT last, hashes FROM id_blocks WHERE topic = ? AND last > ? AND last <= ? ORDER BY last",
  );
  // The one used last stands at the end.
  const topics = new Map<number, { ids: IdHashes; bytes: number }>();
  let bytes = 0;

  const hashOf = (id: string) => Number.parseInt(hash("sha256", salt + id).slice(0, 8), 16);

  const firstKept = (topic: number, last: number) => () => Number(firstOf.get(topic)?.seq ?? last + 1);

  function load(topic: number, known: IdHashes, last: number): void {
    known.reserve(last);
    for (const block of blocksOf.iterate(topic, known.last, last)) {
      const start = Number(block.last) - blockLength;
      if (known.last < start) loadRows(topic, known, start);
      known.addBlock(Number(block.last), block.hashes as Uint8Array);
    }
    loadRows(topic, known, last);
    known.last = last;
  }

  function loadRows(topic: number, known: IdHashes, last: number): void {
    for (const { seq, id } of idsOf.iterate(topic, known.last, last)) {
      known.add(Number(seq), hashOf(String(id)));
    }
  }

  function of(topic: number, last: number): IdHashes {
    const held = topics.get(topic) ?? { bytes: 0, ids: new IdHashes(firstKept(topic, last)) };
    if (held.ids.last < last) load(topic, held.ids, last);
    topics.delete(topic);
    topics.set(topic, held);
    bytes += held.ids.bytes - held.bytes;
    held.bytes = held.ids.bytes;
    for (const [oldest, { bytes: freed }] of topics) {
      if (bytes <= bytesMax || oldest === topic) break;
      topics.delete(oldest);
      bytes -= freed;
    }
    return held.ids;
  }

  function forget(): void {
    topics.clear();
    bytes = 0;
  }

  return { hashOf, of, forget };
}
