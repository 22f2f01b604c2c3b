// The tree's tables on PostgreSQL. Forward only: a change is a new entry at the end. Those of gates and pins are missing:
// as long as they are, no configuration uses these.
import type { PostgresComponent } from "@mcpx/host";

/** What strangers choose is kept as bytes: it may hold any character, and PostgreSQL's text cannot. */
const registrations = `
  CREATE TABLE tree_numbers (name text PRIMARY KEY, value bigint NOT NULL);
  CREATE TABLE segment_claims (
    segment bytea PRIMARY KEY,
    subserver_id bytea NOT NULL,
    identity bytea NOT NULL,
    registrant bytea NOT NULL,
    is_proven boolean NOT NULL,
    until_ms bigint NOT NULL
  );
  CREATE INDEX segment_claims_until ON segment_claims (until_ms);
  CREATE INDEX segment_claims_subserver ON segment_claims (subserver_id);
  CREATE SEQUENCE subserver_epochs_numbers;
  CREATE TABLE subserver_epochs (
    subserver_id bytea PRIMARY KEY,
    number bigint NOT NULL UNIQUE,
    epoch bigint NOT NULL
  );
  CREATE TABLE used_proofs (id bytea PRIMARY KEY, until_ms bigint NOT NULL);
  CREATE INDEX used_proofs_until ON used_proofs (until_ms);
`;

const budgetUses = `
  CREATE TABLE budget_uses (
    subserver_id bytea PRIMARY KEY,
    mutable_calls bigint NOT NULL,
    cost_units double precision NOT NULL,
    calls text NOT NULL,
    seen_at bigint NOT NULL
  );
`;

export const treeOnPostgres: PostgresComponent = {
  component: "aggregator",
  migrations: [
    { version: 1, up: registrations },
    { version: 2, up: budgetUses },
  ],
};
