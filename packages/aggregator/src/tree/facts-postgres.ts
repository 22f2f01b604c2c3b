// The facts of a tree on PostgreSQL. Each verb is one statement.
import { randomUUID } from "node:crypto";
import { askPostgres, type PostgresSession, type Statement } from "@mcpx/host";
import { type KeptFacts, wholeSecond } from "./facts.ts";

export const factsOnPostgres = "CREATE TABLE tree_facts (name text PRIMARY KEY, value text NOT NULL);";

const find = { name: "facts-find", text: "SELECT value FROM tree_facts WHERE name = $1" };

/** What is there already stays, and is given back. */
const makeOnce = {
  name: "facts-make-once",
  text: `INSERT INTO tree_facts AS old VALUES ($1, $2)
         ON CONFLICT (name) DO UPDATE SET value = old.value RETURNING value`,
};

const put = {
  name: "facts-put",
  text: "INSERT INTO tree_facts VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
};

/** Segment and time in one row, so that nobody sees one without the other. */
const keepRoot = {
  name: "facts-keep-root",
  text: `
    INSERT INTO tree_facts AS old
    SELECT 'root', jsonb_build_object('segment', $1::text, 'since',
      CASE WHEN EXISTS (SELECT 1 FROM tree_facts WHERE name = 'aggregator_id') THEN $2::bigint ELSE 0 END)::text
    ON CONFLICT (name) DO UPDATE SET value = CASE WHEN old.value::jsonb ->> 'segment' = $1::text THEN old.value
      ELSE jsonb_build_object('segment', $1::text, 'since', $2::bigint)::text END
    RETURNING value`,
};

interface Root {
  segment: string;
  since: number;
}

/** The store has the tables of `treeOnPostgres`; the session is closed by the code that opened it. */
export function createPostgresTreeFacts(session: PostgresSession): KeptFacts {
  const ask = async (statement: Statement, values: readonly (string | number)[]) => {
    const [row] = await askPostgres<[value: string]>(session, statement, values);
    return row?.[0];
  };
  return {
    aggregatorId: async () => stored(await ask(makeOnce, ["aggregator_id", randomUUID()])),
    async rootSince(segment = "", now) {
      return (JSON.parse(stored(await ask(keepRoot, [segment, wholeSecond(now)]))) as Root).since;
    },
    async storedRoot() {
      const text = await ask(find, ["root"]);
      const segment = text === undefined ? "" : (JSON.parse(text) as Root).segment;
      return segment === "" ? undefined : segment;
    },
    isPanic: async () => (await ask(find, ["panic"])) === "on",
    keepPanic: async (isPanic) => void (await ask(put, ["panic", isPanic ? "on" : "off"])),
  };
}

function stored(value: string | undefined): string {
  if (value === undefined) throw new Error("a fact was stored and did not come back");
  return value;
}
