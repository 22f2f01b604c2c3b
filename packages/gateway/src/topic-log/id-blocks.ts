// Stores the hashes of ids, a block of them in one row, so that they are loaded without reading the envelopes.
import type { DatabaseSync } from "node:sqlite";
import { blockLength, type IdHashes } from "./id-hashes.ts";

export interface Grown {
  key: number;
  /** The last seq before and after. */
  before: number;
  last: number;
  ids: IdHashes;
}

export function createIdBlocks(db: DatabaseSync) {
  const lastOf = db.prepare("SELECT max(last) AS last FROM id_blocks WHERE topic = ?");
  const add = db.prepare("INSERT INTO id_blocks (topic, last, hashes) VALUES (?, ?, ?)");
  const remove = db.prepare("DELETE FROM id_blocks WHERE topic = ? AND last <= ?");
  return {
    /** Once a topic has grown past the end of a block it is stored, and what is missing before it. */
    store: ({ key, before, last, ids }: Grown): void => {
      if (Math.floor(before / blockLength) === Math.floor(last / blockLength)) return;
      const stored = lastOf.get(key)?.last ?? ids.first - 1 - ((ids.first - 1) % blockLength);
      for (let end = Number(stored) + blockLength; end <= last; end += blockLength) {
        add.run(key, end, ids.block(end));
      }
    },
    removeUpTo: (key: number, seq: number): void => void remove.run(key, seq),
  };
}
