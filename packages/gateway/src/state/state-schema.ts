// The gateway's tables in the state database. Forward only: a change is a new entry at the end.
import type { Migration } from "@mcpx/host";

export const gatewayMigrations: readonly Migration[] = [
  {
    version: 1,
    up: `
      CREATE TABLE level_decisions (
        n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, topic TEXT NOT NULL, level TEXT NOT NULL,
        by TEXT NOT NULL, at INTEGER NOT NULL, UNIQUE (id, topic)
      );
      CREATE TABLE participants_seen (topic TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (id, topic)) WITHOUT ROWID;
      CREATE TABLE participant_keys (id TEXT PRIMARY KEY, thumbprint TEXT NOT NULL) WITHOUT ROWID;
    `,
  },
  {
    version: 2,
    up: `
      CREATE TABLE revoked_capabilities (
        topic TEXT NOT NULL, issuer TEXT NOT NULL, jti TEXT NOT NULL, until INTEGER NOT NULL,
        PRIMARY KEY (topic, issuer, jti)
      ) WITHOUT ROWID;
      CREATE INDEX revoked_capabilities_until ON revoked_capabilities (until);
      CREATE TABLE revoked_hashes (n INTEGER PRIMARY KEY, until INTEGER NOT NULL, hashes BLOB NOT NULL);
    `,
  },
  {
    version: 3,
    up: "CREATE INDEX revoked_capabilities_issuer ON revoked_capabilities (issuer, until);",
  },
  {
    version: 4,
    // In open mode, whose token first used a key under an id that no token names.
    up: "ALTER TABLE participant_keys ADD COLUMN owner TEXT;",
  },
  {
    version: 5,
    up: "CREATE TABLE topic_makers (topic TEXT PRIMARY KEY, maker TEXT NOT NULL) WITHOUT ROWID;",
  },
];
