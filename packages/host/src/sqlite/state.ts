// The host's tables in `state.db`: audit chain, signing keys, issued tokens, revocations.
import type { DatabaseSync } from "node:sqlite";
import { type Migration, openDatabase } from "./database.ts";

export const hostMigrations: readonly Migration[] = [
  {
    version: 1,
    up: `
      CREATE TABLE host_settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

      CREATE TABLE audit (
        seq INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        action TEXT NOT NULL,
        reason TEXT,
        actor TEXT,
        subject TEXT,
        topic TEXT,
        detail TEXT,
        count INTEGER NOT NULL,
        hash TEXT NOT NULL
      ) STRICT;
      -- The newest link, apart from the chain: without it, cutting off the end would go unseen.
      CREATE TABLE audit_head (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        seq INTEGER NOT NULL,
        hash TEXT NOT NULL
      ) STRICT;

      CREATE TABLE signing_keys (
        kid TEXT PRIMARY KEY,
        private_jwk TEXT,
        public_jwk TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        retired_at INTEGER,
        last_exp INTEGER NOT NULL DEFAULT 0
      ) STRICT;
      CREATE UNIQUE INDEX signing_keys_one_active ON signing_keys ((1)) WHERE retired_at IS NULL;

      CREATE TABLE issued_tokens (
        jti TEXT PRIMARY KEY,
        sub TEXT,
        claims TEXT NOT NULL,
        iat INTEGER NOT NULL,
        exp INTEGER NOT NULL,
        kid TEXT NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX issued_tokens_by_time ON issued_tokens (iat);
      -- Numbered for ever, so that "what is new since" is one comparison.
      CREATE TABLE revoked_tokens (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        jti TEXT NOT NULL UNIQUE,
        revoked_at INTEGER NOT NULL,
        forget_at INTEGER NOT NULL
      ) STRICT;
      -- Which issuer's people an id belongs to: nobody else's token may use it.
      CREATE TABLE id_owners (id TEXT PRIMARY KEY, issuer TEXT NOT NULL) STRICT, WITHOUT ROWID;
    `,
  },
];

/** Opens `state.db` with the host's tables in place. Each caller gets a connection of its own. */
export function openState(path: string, options: { readOnly?: boolean } = {}): DatabaseSync {
  return openDatabase(path, { component: "host", migrations: hostMigrations, ...options });
}
