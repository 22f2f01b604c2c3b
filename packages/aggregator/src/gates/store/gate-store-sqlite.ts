// Gates in `state.db`. What was consumed is on the disk before anybody is told. [AX-11.3-5]
import { randomUUID } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { immediately } from "@mcpx/host";
import { withoutRoot, withRoot } from "@mcpx/protocol";
import { factsText, readFacts } from "./gate-facts.ts";
import type { GateChange, GateLoad, GateRows, Kept } from "./gate-rows.ts";
import { type Gate, type GateStatus, type GateStore, type ListedGate, listMax } from "./gate-store.ts";
import { createGateVerbs, type RootedGateStoreOptions } from "./gate-verbs.ts";

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

/**
 * A change names the version that it was made from; and who has made it, so that others know what a dead one has left.
 */
export const gateVersions = `
  ALTER TABLE gates ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE gates ADD COLUMN gateway TEXT NOT NULL DEFAULT '';
`;

interface SqliteGateStoreOptions extends RootedGateStoreOptions {
  /** Has the tables of `aggregatorMigrations`, and is closed by the code that opened it. */
  db: DatabaseSync;
}

const fullSync = 2;

export function createSqliteGateStore({ db, rootSegment, ...options }: SqliteGateStoreOptions): GateStore {
  if (Number(db.prepare("PRAGMA synchronous").get()?.synchronous) < fullSync) {
    throw new Error("gates need a database that survives a power cut (synchronous = FULL)");
  }
  const { gatewayId = randomUUID() } = options;
  return createGateVerbs(
    { ...createReading(db, rootSegment, gatewayId), ...createWriting(db, rootSegment, gatewayId) },
    options,
  );
}

const head =
  "id, status, principal, tool, digest, created_at, expires_at, settled_at, is_delivered, facts, version";
const isWaiting = "status IN ('pending', 'approved', 'held')";

type Reading = "find" | "look" | "newestDone" | "list" | "waiting" | "findAll" | "lost";

function createReading(
  db: DatabaseSync,
  root: string | undefined,
  gatewayId: string,
): Pick<GateRows, Reading> {
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
  const findAll = db.prepare(`SELECT ${head} FROM gates WHERE id IN (SELECT value FROM json_each(?))`);
  const lost = db.prepare(
    `SELECT ${head} FROM gates WHERE status = ? AND gateway NOT IN (SELECT value FROM json_each(?))
       AND (status <> 'approved' OR coalesce(facts ->> '$.isAllowed', 0) = 0) ORDER BY number DESC LIMIT ${listMax}`,
  );
  const load = db.prepare(`SELECT count(*) AS count, total(chars) AS chars FROM gates WHERE ${isWaiting}`);
  const loadOf = db.prepare(
    `SELECT count(*) AS count, total(chars) AS chars FROM gates WHERE ${isWaiting} AND principal = ?`,
  );
  const turn = turnIn(db);
  return {
    find: async (id) => keptOf(root, find.get(id)),
    look: async ({ principal, tool, digest }) => ({
      turn: turn(),
      newest: keptOf(root, newest.get(principal, withoutRoot(root, tool), digest)),
      own: loadIn(loadOf.get(principal)),
      all: loadIn(load.get()),
    }),
    newestDone: async ({ id, tool }, principal) =>
      keptOf(root, newestDone.get(id, withoutRoot(root, tool), principal ?? null))?.gate,
    list: async (status) =>
      (status === undefined ? all.all() : some.all(status)).map((row) => listedOf(root, row)),
    waiting: async () =>
      waiting.all().map((row) => ({
        id: String(row.id),
        principal: String(row.principal),
        createdAt: Number(row.created_at),
        expiresAt: Number(row.expires_at),
        chars: Number(row.chars),
        ...(row.held_at !== null && { heldAt: Number(row.held_at) }),
      })),
    findAll: async (ids) => findAll.all(JSON.stringify(ids)).map((row) => keptHead(root, row)),
    lost: async (status, living) =>
      lost.all(status, JSON.stringify([...living, gatewayId])).map((row) => keptHead(root, row)),
  };
}

function createWriting(
  db: DatabaseSync,
  root: string | undefined,
  gatewayId: string,
): Omit<GateRows, Reading> {
  const insert = db.prepare(
    `INSERT INTO gates (id, status, principal, tool, digest, created_at, expires_at, is_delivered, chars, facts,
       arguments, gateway) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  // The arguments are in no UPDATE: what was approved is what is there.
  const update = db.prepare(
    `UPDATE gates SET status = ?, expires_at = ?, settled_at = ?, is_delivered = ?, chars = ?, facts = ?,
       result = ?, version = ?, gateway = ? WHERE id = ?`,
  );
  const end = db.prepare(
    `UPDATE gates SET status = ?, settled_at = ?, facts = ?, chars = chars - coalesce(length(result), 0),
       result = NULL, version = ?, gateway = ? WHERE id = ? AND version = ?`,
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
  const lastTurn = turnIn(db);
  const version = db.prepare("SELECT version FROM gates WHERE id = ?");
  const versionOf = (id: string) => version.get(id)?.version;
  const replace = ({ gate, to }: GateChange) => {
    const { id, status, expiresAt, settledAt = null, isDelivered, argumentsText, resultText } = gate;
    const chars = argumentsText.length + (resultText?.length ?? 0);
    const state = [status, expiresAt, settledAt, isDelivered ? 1 : 0, chars, factsText(gate)] as const;
    update.run(...state, resultText ?? null, to, gatewayId, id);
  };
  return {
    insert: async (gate, turn, { finishedMax, finishedCharsMax }) =>
      immediately(db, () => {
        if (lastTurn() !== turn) return undefined;
        const { id, status, principal, tool, digest, createdAt, expiresAt, argumentsText } = gate;
        const forgotten = prune.all(finishedMax, finishedCharsMax).map((row) => String(row.id));
        const name = withoutRoot(root, tool);
        insert.run(
          ...[id, status, principal, name, digest, createdAt, expiresAt, 0, argumentsText.length],
          ...[factsText(gate), argumentsText, gatewayId],
        );
        return forgotten;
      }),
    replace: async (change, proofHash) =>
      immediately(db, () => {
        if (versionOf(change.gate.id) !== change.from) return "moved";
        if (proofHash !== undefined && addProof.run(proofHash).changes === 0) return "proof_used";
        replace(change);
        return "replaced";
      }),
    end: async (changes) =>
      immediately(db, () => {
        const became = changes.filter(({ gate, from, to }) => {
          const { id, status, settledAt = null } = gate;
          return end.run(status, settledAt, factsText(gate), to, gatewayId, id, from).changes > 0;
        });
        return new Set(became.map(({ gate }) => gate.id));
      }),
    addProof: async (hash) => addProof.run(hash).changes > 0,
  };
}

/** Numbers are never given twice, also when the newest gate was forgotten. */
function turnIn(db: DatabaseSync): () => number {
  const last = db.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'gates'");
  return () => Number(last.get()?.seq ?? 0);
}

function loadIn(row: Record<string, unknown> | undefined): GateLoad {
  return { count: Number(row?.count), chars: Number(row?.chars) };
}

function listedOf(root: string | undefined, row: Record<string, unknown>): ListedGate {
  return {
    ...readFacts(String(row.facts)),
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

function keptHead(root: string | undefined, row: Record<string, unknown>): Kept<ListedGate> {
  return { gate: listedOf(root, row), version: Number(row.version) };
}

function keptOf(root: string | undefined, row: Record<string, unknown> | undefined): Kept | undefined {
  if (row === undefined) return undefined;
  const result = row.result === null ? {} : { resultText: String(row.result) };
  const gate: Gate = { ...listedOf(root, row), argumentsText: String(row.arguments), ...result };
  return { gate, version: Number(row.version) };
}
