// What a tree keeps in `state.db`.
import { openDatabase } from "@mcpx/host";
import { createSqliteBudgetStore } from "../budgets/store.ts";
import { createSqlitePinStore } from "../catalogue/pin-store-sqlite.ts";
import { createSqliteChainStore } from "../gates/chain/chain-store-sqlite.ts";
import { createSqliteGateStore } from "../gates/store/gate-store-sqlite.ts";
import { createSqliteRegistrationStore } from "../registration/registration-store-sqlite.ts";
import { createSqliteTreeFacts } from "./facts-sqlite.ts";
import { aggregatorMigrations } from "./migrations.ts";
import type { TreeStores } from "./stores.ts";

interface SqliteTreeStoresOptions {
  /** What a power cut takes back is claimed, pinned and counted again: a thousand may register at once. */
  isRelaxed?: boolean;
}

export function openSqliteTreeStores(
  path: string,
  { isRelaxed = false }: SqliteTreeStoresOptions = {},
): TreeStores & Disposable {
  const open = (synchronous: "FULL" | "NORMAL") =>
    openDatabase(path, { component: "aggregator", migrations: aggregatorMigrations, synchronous });
  const db = open("FULL");
  const often = isRelaxed ? open("NORMAL") : db;
  return {
    facts: createSqliteTreeFacts(db),
    chain: createSqliteChainStore(db),
    pins: createSqlitePinStore(often),
    budgets: createSqliteBudgetStore(often),
    gates: (options) => createSqliteGateStore({ db, ...options }),
    registrations: (clock) => createSqliteRegistrationStore({ db: often, clock }),
    [Symbol.dispose]() {
      db.close();
      if (isRelaxed) often.close();
    },
  };
}
