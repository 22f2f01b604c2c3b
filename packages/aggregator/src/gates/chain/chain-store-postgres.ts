// The chain of approvers on PostgreSQL. [B-KEY-2]
import { askPostgres, type PostgresSession } from "@mcpx/host";
import type { ChainStore } from "./chain-store.ts";

export const authorityChainOnPostgres =
  "CREATE TABLE authority_chain (n bigint PRIMARY KEY, entry text NOT NULL);";

const from = { name: "chain-from", text: "SELECT entry FROM authority_chain WHERE n >= $1 ORDER BY n" };
const one = { name: "chain-one", text: "SELECT entry FROM authority_chain WHERE n = $1" };
const count = { name: "chain-length", text: "SELECT count(*) FROM authority_chain" };
/** Of two who append at once, the second waits for the first, and finds its number taken. */
const append = {
  name: "chain-append",
  text: `INSERT INTO authority_chain SELECT $1::bigint, $2
         WHERE (SELECT count(*) FROM authority_chain) = $1::bigint ON CONFLICT DO NOTHING RETURNING 1`,
};

/** The store has the tables of `treeOnPostgres`; the session is closed by the code that opened it. */
export function createPostgresChainStore(session: PostgresSession): ChainStore {
  return {
    texts: async (n) => (await askPostgres<[string]>(session, from, [n])).map(([text]) => text),
    text: async (n) => (await askPostgres<[string]>(session, one, [n]))[0]?.[0],
    length: async () => (await askPostgres<[number]>(session, count))[0]?.[0] ?? 0,
    append: async (n, text) => (await askPostgres(session, append, [n, text])).length > 0,
  };
}
