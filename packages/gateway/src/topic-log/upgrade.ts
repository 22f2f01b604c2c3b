// Brings the contents of an older store up to date where SQL alone cannot: see `schema.ts` for the tables.
import type { DatabaseSync } from "node:sqlite";
import { immediately } from "@mcpx/host";
import { createIdBlocks } from "./id-blocks.ts";
import { blockLength } from "./id-hashes.ts";
import { createTopicIds } from "./ids.ts";

/**
 * For stores from before there were blocks: reads every id once, in one transaction for each topic. Done before the
 * store is used, because it takes a while; otherwise there is nothing to do.
 */
export function storeMissingBlocks(db: DatabaseSync): void {
  const lacking = db.prepare(`
    SELECT key, last FROM (SELECT key, last, last / ${blockLength} * ${blockLength} AS due FROM topics) AS t
    WHERE due > (SELECT coalesce(max(last), 0) FROM id_blocks WHERE topic = t.key)
    AND EXISTS (SELECT 1 FROM envelopes WHERE topic = t.key AND seq <= due)
  `);
  const ids = createTopicIds(db);
  const blocks = createIdBlocks(db);
  for (const row of lacking.all()) {
    const [key, last] = [Number(row.key), Number(row.last)];
    immediately(db, () => blocks.store({ key, before: 0, last, ids: ids.of(key, last) }));
  }
}
