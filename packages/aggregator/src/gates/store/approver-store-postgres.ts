// Approvers on PostgreSQL: rows with public keys. Whether one counts is said by the signed chain, so a row that
// somebody adds or changes by hand lets nobody approve. [B-KEY-2]
import { askPostgres, type PostgresSession } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import {
  type Approver,
  type ApproverStore,
  approverBytesMax,
  approversMax,
  type Enrolled,
  type Enrolment,
  isApproverName,
  readApprover,
  readEnrolled,
} from "./approver-store.ts";

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
  text: `SELECT number, name, left(approver, ${approverBytesMax + 1}), counter FROM approvers
         ORDER BY name COLLATE "C" LIMIT ${approversMax}`,
};
const add = {
  name: "approvers-add",
  text: `INSERT INTO approvers (name, approver, counter) VALUES ($1, $2, $3::bigint)
         ON CONFLICT DO NOTHING RETURNING 1`,
};
const replace = {
  name: "approvers-replace",
  text: `UPDATE approvers SET approver = $2
         WHERE name = $1 AND approver::jsonb -> 'jwk' = $2::text::jsonb -> 'jwk' RETURNING 1`,
};
const remove = { name: "approvers-remove", text: "DELETE FROM approvers WHERE name = $1 RETURNING 1" };
/** Of a passkey alone: keys count nothing. */
const count = {
  name: "approvers-count",
  text: "UPDATE approvers SET counter = greatest(counter, $2::bigint) WHERE name = $1 AND counter IS NOT NULL",
};

type Row = [number: number, name: string, text: string, counter: number | null];

/** The store has the tables of `treeOnPostgres`; the session is closed by the code that opened it. */
export function createPostgresApproverStore(session: PostgresSession): ApproverStore {
  let last = { stamp: "[]", enrolled: enrolledIn([]) };
  const read = async () => {
    const rows = await askPostgres<Row>(session, list);
    const stamp = JSON.stringify(rows);
    if (last.stamp !== stamp) last = { stamp, enrolled: enrolledIn(rows) };
    return last.enrolled;
  };
  return {
    list: read,
    known: () => last.enrolled,
    async add(approver) {
      const one = readApprover(approver);
      const counter = "passkey" in one ? one.passkey.counter : null;
      const added = await askPostgres(session, add, [one.name, JSON.stringify(one), counter]);
      if (added.length === 0) throw new McpxError("id_conflict", "there is an approver of this name");
    },
    async replace(approver) {
      const one = readApprover(approver);
      return (await askPostgres(session, replace, [one.name, JSON.stringify(one)])).length > 0;
    },
    async remove(name) {
      const isGone = isApproverName(name) && (await askPostgres(session, remove, [name])).length > 0;
      // What is known here without asking has no such approver from now on.
      const approvers = last.enrolled.approvers.filter((one) => one.approver.name !== name);
      last = { stamp: "", enrolled: { ...last.enrolled, approvers } };
      return isGone;
    },
    async keepCounter(name, counter) {
      if (isApproverName(name)) await askPostgres(session, count, [name, counter]);
    },
  };
}

function enrolledIn(rows: readonly Row[]): Enrolled {
  const approvers: Enrolment[] = [];
  const unreadable: { name: string; place: string; why: string }[] = [];
  for (const [since, name, text, counter] of rows) {
    const place = `approver ${name} in PostgreSQL`;
    try {
      approvers.push({ approver: withCounter(readEnrolled(name, text), counter), since, place });
    } catch (error) {
      unreadable.push({ name, place, why: (error as Error).message });
    }
  }
  return { approvers, unreadable };
}

function withCounter(approver: Approver, counter: number | null): Approver {
  if (!("passkey" in approver)) return approver;
  return { ...approver, passkey: { ...approver.passkey, counter: counter ?? approver.passkey.counter } };
}
