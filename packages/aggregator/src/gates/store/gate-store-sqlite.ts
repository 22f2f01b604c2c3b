// Gates in `state.db`. What was consumed is on the disk before anybody is told. [AX-11.3-5]
import type { DatabaseSync } from "node:sqlite";
import { immediately } from "@mcpx/host";
import { withoutRoot, withRoot } from "@mcpx/protocol";
import { type Gate, type GateStatus, type GateStore, type ListedGate, listMax } from "./gate-store.ts";
import type { GateRows } from "./gate-transaction.ts";
import { createGateVerbs, type GateStoreOptions } from "./gate-verbs.ts";

/** The large texts come last, so that reading the rest does not read them. Proofs are kept for ever. */
export const gateTables = `
  CREATE TABLE gates (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL,
    principal TEXT NOT NULL,
    tool TEXT NOT NULL,
    digest TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    settled_at INTEGER,
    is_delivered INTEGER NOT NULL,
    chars INTEGER NOT NULL,
    facts TEXT NOT NULL,
    arguments TEXT NOT NULL,
    result TEXT
  ) STRICT;
  CREATE INDEX gates_same_call ON gates (principal, tool, digest, number);
  CREATE INDEX gates_by_status ON gates (status, number);
  CREATE INDEX gates_waiting ON gates (principal, chars) WHERE status IN ('pending', 'approved');
  CREATE TABLE gate_proofs (hash TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
`;

/** Held results wait too. */
export const heldGates = `
  DROP INDEX gates_waiting;
  CREATE INDEX gates_waiting ON gates (principal, chars) WHERE status IN ('pending', 'approved', 'held');
`;

interface SqliteGateStoreOptions extends GateStoreOptions {
  /** Has the tables of `aggregatorMigrations`, and is closed by whoever opened it. */
  db: DatabaseSync;
  /** Of the tree. Rows have names without it: they stay right when the root gets a segment or another one. */
  rootSegment?: string | undefined;
}

const fullSync = 2;

export function createSqliteGateStore({ db, rootSegment, ...options }: SqliteGateStoreOptions): GateStore {
  if (Number(db.prepare("PRAGMA synchronous").get()?.synchronous) < fullSync) {
    throw new Error("gates need a database that survives a power cut (synchronous = FULL)");
  }
  return createGateVerbs({ ...createReading(db, rootSegment), ...createWriting(db, rootSegment) }, options);
}

const head = "id, status, principal, tool, digest, created_at, expires_at, settled_at, is_delivered, facts";
const isWaiting = "status IN ('pending', 'approved', 'held')";

type Reading = "find" | "newest" | "newestDone" | "list" | "waiting" | "waitingLoad";

function createReading(db: DatabaseSync, root: string | undefined): Pick<GateRows, Reading> {
  const find = db.prepare(`SELECT ${head}, arguments, result FROM gates WHERE id = ?`);
  const newest = db.prepare(
    `SELECT ${head}, arguments, result FROM gates WHERE principal = ? AND tool = ? AND digest = ?
     ORDER BY number DESC LIMIT 1`,
  );
  const newestDone = db.prepare(
    `SELECT ${head}, arguments, result FROM gates
     WHERE status = 'done' AND number < (SELECT number FROM gates WHERE id = ?1) AND tool = ?2
       AND principal = ifnull(?3, principal)
     ORDER BY number DESC LIMIT 1`,
  );
  const all = db.prepare(`SELECT ${head} FROM gates ORDER BY number DESC LIMIT ${listMax}`);
  const some = db.prepare(`SELECT ${head} FROM gates WHERE status = ? ORDER BY number DESC LIMIT ${listMax}`);
  const waiting = db.prepare(
    `SELECT id, principal, created_at, expires_at, chars,
       CASE status WHEN 'held' THEN facts ->> '$.heldAt' END AS held_at FROM gates WHERE ${isWaiting}`,
  );
  const load = db.prepare(`SELECT count(*) AS count, total(chars) AS chars FROM gates WHERE ${isWaiting}`);
  const loadOf = db.prepare(
    `SELECT count(*) AS count, total(chars) AS chars FROM gates WHERE ${isWaiting} AND principal = ?`,
  );
  return {
    find: (id) => gateOf(root, find.get(id)),
    newest: (principal, tool, digest) => gateOf(root, newest.get(principal, withoutRoot(root, tool), digest)),
    newestDone: ({ id, tool }, principal) =>
      gateOf(root, newestDone.get(id, withoutRoot(root, tool), principal ?? null)),
    list: (status) => (status === undefined ? all.all() : some.all(status)).map((row) => listedOf(root, row)),
    waiting: () =>
      waiting.all().map((row) => ({
        id: String(row.id),
        principal: String(row.principal),
        createdAt: Number(row.created_at),
        expiresAt: Number(row.expires_at),
        chars: Number(row.chars),
        ...(row.held_at !== null && { heldAt: Number(row.held_at) }),
      })),
    waitingLoad(principal) {
      const row = principal === undefined ? load.get() : loadOf.get(principal);
      return { count: Number(row?.count), chars: Number(row?.chars) };
    },
  };
}

function createWriting(db: DatabaseSync, root: string | undefined): Omit<GateRows, Reading> {
  const insert = db.prepare(
    `INSERT INTO gates (id, status, principal, tool, digest, created_at, expires_at, is_delivered, chars, facts,
       arguments) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  // The arguments are in no UPDATE: what was approved is what is there.
  const update = db.prepare(
    `UPDATE gates SET status = ?, expires_at = ?, settled_at = ?, is_delivered = ?, chars = ?, facts = ?,
       result = ? WHERE id = ?`,
  );
  const prune = db.prepare(
    `DELETE FROM gates WHERE number IN (
       SELECT number FROM (
         SELECT number, row_number() OVER turn AS place, sum(chars) OVER turn AS total FROM gates
         WHERE settled_at IS NOT NULL
         WINDOW turn AS (ORDER BY is_delivered, number DESC)
       ) WHERE place > ? OR total > ?
     ) RETURNING id`,
  );
  const addProof = db.prepare("INSERT INTO gate_proofs VALUES (?) ON CONFLICT DO NOTHING");
  return {
    atomically: (work) => immediately(db, work),
    insert(gate) {
      const { id, status, principal, tool, digest, createdAt, expiresAt, argumentsText } = gate;
      const times = [createdAt, expiresAt] as const;
      insert.run(
        ...[id, status, principal, withoutRoot(root, tool), digest, ...times],
        ...[0, argumentsText.length, factsText(gate), argumentsText],
      );
    },
    update(gate) {
      const { id, status, expiresAt, settledAt = null, isDelivered, argumentsText, resultText } = gate;
      const chars = argumentsText.length + (resultText?.length ?? 0);
      const facts = factsText(gate);
      update.run(status, expiresAt, settledAt, isDelivered ? 1 : 0, chars, facts, resultText ?? null, id);
    },
    prune: ({ finishedMax, finishedCharsMax }) =>
      prune.all(finishedMax, finishedCharsMax).map(({ id }) => String(id)),
    addProof: (hash) => addProof.run(hash).changes > 0,
  };
}

/** What is never searched for. */
const factNames = [
  "session",
  "keys",
  "server",
  "token",
  "route",
  "below",
  "capability",
  "nonce",
  "why",
  "approvers",
  "approvals",
  "rejectedBy",
  "reason",
  "refusal",
  "holdsResult",
  "isAllowed",
  "isForOneHearer",
  "heldAt",
  "review",
] as const;

type Facts = Pick<Gate, (typeof factNames)[number]>;

function factsText(gate: Gate): string {
  return JSON.stringify(Object.fromEntries(factNames.map((name) => [name, gate[name]])));
}

function listedOf(root: string | undefined, row: Record<string, unknown>): ListedGate {
  return {
    ...(JSON.parse(String(row.facts)) as Facts),
    id: String(row.id),
    status: String(row.status) as GateStatus,
    principal: String(row.principal),
    tool: withRoot(root, String(row.tool)),
    digest: String(row.digest),
    createdAt: Number(row.created_at),
    expiresAt: Number(row.expires_at),
    ...(row.settled_at !== null && { settledAt: Number(row.settled_at) }),
    isDelivered: row.is_delivered === 1,
  };
}

function gateOf(root: string | undefined, row: Record<string, unknown> | undefined): Gate | undefined {
  if (row === undefined) return undefined;
  const result = row.result === null ? {} : { resultText: String(row.result) };
  return { ...listedOf(root, row), argumentsText: String(row.arguments), ...result };
}
