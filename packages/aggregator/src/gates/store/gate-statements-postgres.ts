// Tables and statements of the gates on PostgreSQL.
import { listMax } from "./gate-store.ts";

/**
 * What strangers choose is kept as bytes: it may hold any character, and PostgreSQL's text cannot. Arguments and results
 * are JSON, which has none that text lacks. A principal may be longer than an index takes, its hash is not.
 */
export const gatesOnPostgres = `
  CREATE TABLE gates (
    number bigint PRIMARY KEY,
    id bytea NOT NULL UNIQUE,
    status text NOT NULL,
    principal bytea NOT NULL,
    tool bytea NOT NULL,
    digest bytea NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    settled_at bigint,
    is_delivered boolean NOT NULL,
    chars bigint NOT NULL,
    version bigint NOT NULL,
    gateway text NOT NULL,
    facts text NOT NULL,
    arguments text NOT NULL,
    result text
  );
  CREATE INDEX gates_same_call ON gates (digest, number);
  CREATE INDEX gates_by_status ON gates (status, number);
  CREATE INDEX gates_waiting ON gates (sha256(principal), chars) WHERE status IN ('pending', 'approved', 'held');
  CREATE INDEX gates_finished ON gates (is_delivered, number DESC) INCLUDE (chars) WHERE settled_at IS NOT NULL;
  CREATE TABLE gate_proofs (hash text PRIMARY KEY);
  INSERT INTO tree_numbers VALUES ('gates', 0);
`;

const head =
  "id, status, principal, tool, digest, created_at, expires_at, settled_at, is_delivered, facts, version";
const whole = `${head}, arguments, result`;
const isWaiting = "status IN ('pending', 'approved', 'held')";

export const find = { name: "gates-find", text: `SELECT ${whole} FROM gates WHERE id = $1` };

export const load = {
  name: "gates-load",
  text: `
    SELECT value, own.count, own.chars, everybody.count, everybody.chars FROM tree_numbers,
      (SELECT count(*) AS count, coalesce(sum(chars), 0)::bigint AS chars FROM gates
       WHERE ${isWaiting} AND sha256(principal) = sha256($1::bytea)) AS own,
      (SELECT count(*) AS count, coalesce(sum(chars), 0)::bigint AS chars FROM gates WHERE ${isWaiting}) AS everybody
    WHERE name = 'gates'`,
};

export const newest = {
  name: "gates-newest",
  text: `SELECT ${whole} FROM gates WHERE principal = $1 AND tool = $2 AND digest = $3
         ORDER BY number DESC LIMIT 1`,
};

export const newestDone = {
  name: "gates-newest-done",
  text: `SELECT ${whole} FROM gates
         WHERE status = 'done' AND number < (SELECT number FROM gates WHERE id = $1) AND tool = $2
           AND ($3::bytea IS NULL OR principal = $3::bytea)
         ORDER BY number DESC LIMIT 1`,
};

export const list = {
  name: "gates-list",
  text: `SELECT ${head} FROM gates ORDER BY number DESC LIMIT ${listMax}`,
};

export const listSome = {
  name: "gates-list-some",
  text: `SELECT ${head} FROM gates WHERE status = $1 ORDER BY number DESC LIMIT ${listMax}`,
};

export const waiting = {
  name: "gates-waiting",
  text: `SELECT id, principal, created_at, expires_at, chars,
           CASE status WHEN 'held' THEN (facts::jsonb ->> 'heldAt')::bigint END FROM gates WHERE ${isWaiting}`,
};

export const findAll = {
  name: "gates-find-all",
  text: `SELECT ${head} FROM gates WHERE id = ANY ($1::bytea[])`,
};

export const lost = {
  name: "gates-lost",
  text: `SELECT ${head} FROM gates WHERE status = $1 AND NOT gateway = ANY ($2::text[])
           AND (status <> 'approved' OR facts::json ->> 'isAllowed' IS DISTINCT FROM 'true')
         ORDER BY number DESC LIMIT ${listMax}`,
};

/** All of it hangs on the turn: another gateway that opens one at the same time makes the second of them look again. */
export const insert = {
  name: "gates-insert",
  text: `
    WITH turn AS (
      UPDATE tree_numbers SET value = value + 1 WHERE name = 'gates' AND value = $1::bigint RETURNING value
    ), forgotten AS (
      DELETE FROM gates USING turn WHERE number IN (
        SELECT number FROM (
          SELECT number, row_number() OVER turns AS place, sum(chars) OVER turns AS total FROM gates
          WHERE settled_at IS NOT NULL WINDOW turns AS (ORDER BY is_delivered, number DESC)
        ) AS finished WHERE place > $2::bigint OR total > $3::bigint
      ) RETURNING id
    ), inserted AS (
      INSERT INTO gates (number, id, status, principal, tool, digest, created_at, expires_at, is_delivered, chars,
        version, facts, arguments, gateway)
      SELECT value, $4::bytea, $5::text, $6::bytea, $7::bytea, $8::bytea, $9::bigint, $10::bigint, false, $11::bigint,
        0, $12::text, $13::text, $14::text FROM turn RETURNING 1
    )
    SELECT EXISTS (SELECT 1 FROM inserted), (SELECT array_agg(id) FROM forgotten)`,
};

/** The arguments are in no UPDATE: what was approved is what is there. A proof that is there already undoes all of it. */
export const replace = {
  name: "gates-replace",
  text: `
    WITH replaced AS (
      UPDATE gates SET version = $3::bigint, gateway = $4, status = $5, expires_at = $6::bigint,
        settled_at = $7::bigint, is_delivered = $8::boolean, chars = $9::bigint, facts = $10, result = $11
      WHERE id = $1 AND version = $2::bigint RETURNING 1
    ), proven AS (
      INSERT INTO gate_proofs SELECT $12::text FROM replaced WHERE $12::text IS NOT NULL
    )
    SELECT 1 FROM replaced`,
};

export const end = {
  name: "gates-end",
  text: `
    UPDATE gates SET version = change.became, gateway = $1, status = change.status, settled_at = change.settled_at,
      facts = change.facts, chars = chars - coalesce(length(result), 0), result = NULL
    FROM unnest($2::bytea[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[], $7::text[])
      AS change (id, was, became, status, settled_at, facts)
    WHERE gates.id = change.id AND gates.version = change.was RETURNING gates.id`,
};

export const addProof = {
  name: "gates-add-proof",
  text: "INSERT INTO gate_proofs VALUES ($1) ON CONFLICT DO NOTHING RETURNING 1",
};
