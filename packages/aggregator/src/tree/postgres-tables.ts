// The tree's tables on PostgreSQL. Forward only: a change is a new entry at the end.
import type { PostgresComponent } from "@mcpx/host";
import { pinsOnPostgres } from "../catalogue/pin-store-postgres.ts";
import { authorityChainOnPostgres } from "../gates/chain/chain-store-postgres.ts";
import { approversOnPostgres } from "../gates/store/approver-store-postgres.ts";
import { gatesOnPostgres } from "../gates/store/gate-statements-postgres.ts";
import { credentialsOnPostgres } from "../oauth/credential-store-postgres.ts";
import { factsOnPostgres } from "./facts-postgres.ts";

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
    { version: 3, up: gatesOnPostgres },
    { version: 4, up: `${factsOnPostgres} ${authorityChainOnPostgres} ${pinsOnPostgres}` },
    { version: 5, up: `${approversOnPostgres} ${credentialsOnPostgres}` },
  ],
};
