// What a tree keeps on PostgreSQL.
import type { PostgresSession } from "@mcpx/host";
import { createPostgresBudgetStore } from "../budgets/store-postgres.ts";
import { createPostgresPinStore } from "../catalogue/pin-store-postgres.ts";
import { createPostgresChainStore } from "../gates/chain/chain-store-postgres.ts";
import { createPostgresGateStore } from "../gates/store/gate-store-postgres.ts";
import { createPostgresRegistrationStore } from "../registration/registration-store-postgres.ts";
import { createPostgresTreeFacts } from "./facts-postgres.ts";
import type { TreeStores } from "./stores.ts";

/** The store has the tables of `treeOnPostgres`; the session is closed by the code that opened it. */
export function createPostgresTreeStores(session: PostgresSession): TreeStores {
  return {
    facts: createPostgresTreeFacts(session),
    chain: createPostgresChainStore(session),
    pins: createPostgresPinStore(session),
    budgets: createPostgresBudgetStore(session),
    gates: (options) => createPostgresGateStore({ session, ...options }),
    registrations: (clock) => createPostgresRegistrationStore({ session, clock }),
  };
}
