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
  ],
};
