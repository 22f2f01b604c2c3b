// The tables of `topics.db`. Forward only: a change is a new entry at the end.
import type { DatabaseOptions } from "@mcpx/host";

export const topicLogStore: DatabaseOptions = {
  component: "topics",
  migrations: [
    {
      version: 1,
      // `topics.last` outlives the envelopes, so that no seq is given twice after all were trimmed. Inside a topic
      // `at` never goes back, so that times are found by searching the primary key and need no index.
      up: `
        CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
        INSERT INTO meta VALUES ('epoch', lower(hex(randomblob(8))));

        CREATE TABLE topics (
          key INTEGER PRIMARY KEY,
          name TEXT NOT NULL UNIQUE,
          last INTEGER NOT NULL DEFAULT 0,
          last_at INTEGER NOT NULL DEFAULT 0
        ) STRICT;

        CREATE TABLE envelopes (
          topic INTEGER NOT NULL,
          seq INTEGER NOT NULL,
          id TEXT NOT NULL,
          sender TEXT NOT NULL,
          at INTEGER NOT NULL,
          digest TEXT NOT NULL,
          text TEXT NOT NULL,
          PRIMARY KEY (topic, seq)
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX envelopes_by_id ON envelopes (topic, id);
      `,
    },
    {
      version: 2,
      // The index of ids dirtied a random page for each append: two thirds of what an append cost. `id_blocks` holds
      // hashes of ids in the order of seqs; `last` is the last seq of a block.
      up: `
        DROP INDEX envelopes_by_id;
        INSERT INTO meta VALUES ('id_salt', lower(hex(randomblob(16))));
        CREATE TABLE id_blocks (
          topic INTEGER NOT NULL,
          last INTEGER NOT NULL,
          hashes BLOB NOT NULL,
          PRIMARY KEY (topic, last)
        ) STRICT, WITHOUT ROWID;
      `,
    },
    {
      version: 3,
      // `topics.bytes` counts all that was ever appended from here on, and `byte_marks` what it was at one seq in
      // every mebibyte. A column of `envelopes` would stand behind the text: to read it is to read all of that.
      up: `
        ALTER TABLE topics ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE byte_marks (
          topic INTEGER NOT NULL,
          bytes INTEGER NOT NULL,
          seq INTEGER NOT NULL,
          PRIMARY KEY (topic, bytes)
        ) STRICT, WITHOUT ROWID;
      `,
    },
  ],
};
