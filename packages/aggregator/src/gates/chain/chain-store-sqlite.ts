// The chain of approvers in `state.db`. [B-KEY-2]
import type { DatabaseSync } from "node:sqlite";
import { immediately } from "@mcpx/host";
import type { ChainStore } from "./chain-store.ts";

export const authorityChainTable = `
  CREATE TABLE authority_chain (
    n INTEGER PRIMARY KEY,
    entry TEXT NOT NULL
  ) STRICT;
`;

/** The database has the tables of `aggregatorMigrations`, and is closed by the code that opened it. */
export function createSqliteChainStore(db: DatabaseSync): ChainStore {
  const from = db.prepare("SELECT entry FROM authority_chain WHERE n >= ? ORDER BY n");
  const one = db.prepare("SELECT entry FROM authority_chain WHERE n = ?");
  const count = db.prepare("SELECT count(*) AS length FROM authority_chain");
  const insert = db.prepare("INSERT INTO authority_chain (n, entry) VALUES (?, ?)");
  const length = () => Number(count.get()?.length ?? 0);
  return {
    texts: async (n) => from.all(n).map(({ entry }) => String(entry)),
    async text(n) {
      const row = one.get(n);
      return row === undefined ? undefined : String(row.entry);
    },
    length: async () => length(),
    append: async (n, text) =>
      immediately(db, () => {
        if (length() !== n) return false;
        insert.run(n, text);
        return true;
      }),
  };
}
