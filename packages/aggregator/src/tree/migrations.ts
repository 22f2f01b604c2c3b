// The tree's tables in the state database. Forward only: a change is a new entry at the end.
import type { Migration } from "@mcpx/host";
import { authorityChainTable } from "../gates/chain/chain-store-sqlite.ts";
import { gateTables, gateVersions, heldGates } from "../gates/store/gate-store-sqlite.ts";

const toolPins = `
  CREATE TABLE tool_pins (
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    hash TEXT NOT NULL,
    text TEXT NOT NULL,
    pinned_at INTEGER NOT NULL,
    changed_hash TEXT,
    changed_text TEXT,
    changed_at INTEGER,
    canonical TEXT,
    chars INTEGER NOT NULL,
    PRIMARY KEY (server, tool)
  ) STRICT;
  CREATE INDEX tool_pins_changed ON tool_pins (canonical) WHERE changed_hash IS NOT NULL;
`;

const registrations = `
  CREATE TABLE tree_facts (
    name TEXT PRIMARY KEY,
    value ANY NOT NULL
  ) STRICT;
  CREATE TABLE segment_claims (
    segment TEXT PRIMARY KEY,
    subserver_id TEXT NOT NULL,
    identity TEXT NOT NULL,
    is_proven INTEGER NOT NULL,
    until_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX segment_claims_until ON segment_claims (until_ms);
  CREATE TABLE subserver_epochs (
    number INTEGER PRIMARY KEY,
    subserver_id TEXT NOT NULL UNIQUE,
    epoch INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE used_proofs (
    id TEXT PRIMARY KEY,
    until_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX used_proofs_until ON used_proofs (until_ms);
`;

const budgetUses = `
  CREATE TABLE budget_uses (
    subserver_id TEXT PRIMARY KEY,
    mutable_calls INTEGER NOT NULL,
    cost_units REAL NOT NULL,
    calls TEXT NOT NULL,
    seen_at INTEGER NOT NULL
  ) STRICT;
`;

/** Of one that registered: who did. The index makes sums of a few numbers, not of texts. */
const pinPayers = `
  ALTER TABLE tool_pins ADD COLUMN payer TEXT;
  CREATE INDEX tool_pins_payer ON tool_pins (payer, chars) WHERE payer IS NOT NULL;
`;

/** Who registered, so that the id of one that is away for a moment is kept for it. Of older claims nobody knows. */
const claimants = `
  ALTER TABLE segment_claims ADD COLUMN registrant TEXT;
  CREATE INDEX segment_claims_subserver ON segment_claims (subserver_id);
`;

export const aggregatorMigrations: readonly Migration[] = [
  { version: 1, up: toolPins },
  { version: 2, up: registrations },
  { version: 3, up: budgetUses },
  { version: 4, up: gateTables },
  { version: 5, up: heldGates },
  { version: 6, up: pinPayers },
  { version: 7, up: claimants },
  { version: 8, up: authorityChainTable },
  { version: 9, up: gateVersions },
];
