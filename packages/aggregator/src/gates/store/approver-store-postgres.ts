// Approvers on PostgreSQL: rows with public keys. Whether one counts is said by the signed chain, so a row that
// somebody adds or changes by hand lets nobody approve. [B-KEY-2]
import { askPostgres, type PostgresSession } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import { type Approver, type ApproverStore, isApproverName, readApprover } from "./approver-store.ts";

export const approversOnPostgres = `
  CREATE TABLE approvers (
    number bigint GENERATED ALWAYS AS IDENTITY,
    name text PRIMARY KEY,
    approver text NOT NULL,
    counter bigint
  );
  CREATE UNIQUE INDEX approvers_names ON approvers (lower(name));
`;

const list = {
  name: "approvers-list",
  text: 'SELECT name, approver, counter FROM approvers ORDER BY name COLLATE "C"',
};
const add = {
  name: "approvers-add",
  text: `INSERT INTO approvers (name, approver, counter) VALUES ($1, $2, $3::bigint)
         ON CONFLICT DO NOTHING RETURNING 1`,
};
const remove = { name: "approvers-remove", text: "DELETE FROM approvers WHERE name = $1 RETURNING 1" };
/** Of a passkey alone: keys count nothing. */
const count = {
  name: "approvers-count",
  text: "UPDATE approvers SET counter = greatest(counter, $2::bigint) WHERE name = $1 AND counter IS NOT NULL",
};

/** The store has the tables of `treeOnPostgres`; the session is closed by the code that opened it. */
export function createPostgresApproverStore(session: PostgresSession): ApproverStore {
  return {
    async list() {
      const rows = await askPostgres<[name: string, text: string, counter: number | null]>(session, list);
      return rows.map(([name, text, counter]) => parse(name, text, counter));
    },
    async add(approver) {
      const read = readApprover(approver);
      const counter = "passkey" in read ? read.passkey.counter : null;
      const added = await askPostgres(session, add, [read.name, JSON.stringify(read), counter]);
      if (added.length === 0) throw new McpxError("id_conflict", "there is an approver of this name");
    },
    remove: async (name) => isApproverName(name) && (await askPostgres(session, remove, [name])).length > 0,
    async keepCounter(name, counter) {
      if (isApproverName(name)) await askPostgres(session, count, [name, counter]);
    },
  };
}

function parse(name: string, text: string, counter: number | null): Approver {
  try {
    const approver = readApprover(JSON.parse(text));
    if (approver.name !== name) throw new Error("the name in the row is not the row's name");
    if (!("passkey" in approver)) return approver;
    return { ...approver, passkey: { ...approver.passkey, counter: counter ?? approver.passkey.counter } };
  } catch (error) {
    throw new Error(`approver ${name}: ${(error as Error).message}`, { cause: error });
  }
}
