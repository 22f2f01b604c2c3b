// The host's tables on PostgreSQL. Forward only: a change is a new entry at the end.
import type { PostgresComponent } from "./migrate.ts";

/** What strangers choose is kept as bytes: it may hold any character, and PostgreSQL's text cannot. */
const audit = `
  CREATE TABLE host_settings (name text PRIMARY KEY, value text NOT NULL);
  CREATE TABLE audit (
    seq bigint PRIMARY KEY,
    at bigint NOT NULL,
    action text NOT NULL,
    reason bytea,
    actor bytea,
    subject bytea,
    topic bytea,
    detail text,
    count bigint NOT NULL,
    hash text NOT NULL
  );
  -- The newest link, apart from the chain: without it, cutting off the end would go unseen. Every append writes it.
  CREATE TABLE audit_head (
    one smallint PRIMARY KEY CHECK (one = 1),
    seq bigint NOT NULL,
    hash text NOT NULL
  ) WITH (fillfactor = 50);
  INSERT INTO audit_head VALUES (1, 0, repeat('0', 64));
`;

/** Private keys are sealed; `private_jwk` of a retired key is gone. */
const identity = `
  CREATE TABLE signing_keys (
    kid text PRIMARY KEY,
    private_jwk text,
    public_jwk text NOT NULL,
    created_at bigint NOT NULL,
    retired_at bigint,
    last_exp bigint NOT NULL DEFAULT 0
  );
  CREATE UNIQUE INDEX signing_keys_one_active ON signing_keys ((1)) WHERE retired_at IS NULL;
  CREATE TABLE issued_tokens (
    jti bytea PRIMARY KEY,
    sub bytea,
    claims text NOT NULL,
    iat bigint NOT NULL,
    exp bigint NOT NULL,
    kid text NOT NULL
  );
  CREATE INDEX issued_tokens_by_time ON issued_tokens (iat);
  CREATE INDEX issued_tokens_by_end ON issued_tokens (exp);
  CREATE TABLE host_numbers (name text PRIMARY KEY, value bigint NOT NULL);
  INSERT INTO host_numbers VALUES ('revocations', 0);
  -- Numbered for ever, so that "what is new since" is one comparison.
  CREATE TABLE revoked_tokens (
    number bigint PRIMARY KEY,
    jti bytea NOT NULL UNIQUE,
    revoked_at bigint NOT NULL,
    forget_at bigint NOT NULL
  );
  CREATE INDEX revoked_tokens_by_end ON revoked_tokens (forget_at);
  -- Which issuer's people an id belongs to: nobody else's token may use it.
  CREATE TABLE id_owners (id bytea PRIMARY KEY, issuer text NOT NULL);
`;

export const hostOnPostgres: PostgresComponent = {
  component: "host",
  migrations: [
    { version: 1, up: audit },
    { version: 2, up: identity },
  ],
};
