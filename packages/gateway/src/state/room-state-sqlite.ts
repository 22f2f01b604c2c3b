// What the rooms keep, in `state.db`.
import type { DatabaseSync } from "node:sqlite";
import { durably, immediately } from "@mcpx/host";
import type {
  DecidedLevel,
  DecisionStore,
  ParticipantStore,
  RevokedCapabilityStore,
  RoomState,
  TopicMakerStore,
} from "./room-state.ts";

/** The database has the tables of `gatewayMigrations`, and is closed by the code that opened it. */
export function createSqliteRoomState(db: DatabaseSync): RoomState {
  return {
    decisions: createDecisions(db),
    participants: createParticipants(db),
    topicMakers: createTopicMakers(db),
    revoked: createRevoked(db),
  };
}

function createDecisions(db: DatabaseSync): DecisionStore {
  const clear = db.prepare("DELETE FROM level_decisions WHERE id = ? AND (topic = ? OR ? = '*')");
  const set = db.prepare("INSERT INTO level_decisions (id, topic, level, by, at) VALUES (?, ?, ?, ?, ?)");
  return {
    // By number: which is newer that tells, whatever the clock did.
    decisions: async () =>
      db
        .prepare("SELECT id, topic, level FROM level_decisions ORDER BY n")
        .all()
        .map(({ id, topic, level }) => ({
          ...{ id: String(id), topic: String(topic), level: String(level) as DecidedLevel },
        })),
    decide: async ({ id, topic, level, by, at }) =>
      immediately(db, () => {
        clear.run(id, topic, topic);
        set.run(id, topic, level, by, at);
      }),
  };
}

function createParticipants(db: DatabaseSync): ParticipantStore {
  const insertSeen = db.prepare("INSERT OR IGNORE INTO participants_seen (topic, id) VALUES (?, ?)");
  const seen = db.prepare(
    "SELECT 1 FROM participants_seen WHERE id = ? AND (? IS NULL OR topic = ?) LIMIT 1",
  );
  const find = db.prepare("SELECT thumbprint, owner FROM participant_keys WHERE id = ?");
  const insertKey = db.prepare(
    "INSERT OR IGNORE INTO participant_keys (id, thumbprint, owner) VALUES (?, ?, ?)",
  );
  const remove = db.prepare("DELETE FROM participant_keys WHERE id = ?");
  const count = (table: string) => Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n);
  return {
    counts: async () => ({ seen: count("participants_seen"), keys: count("participant_keys") }),
    saw: async (all) =>
      immediately(db, () =>
        all.reduce((sum, { topic, id }) => sum + Number(insertSeen.run(topic, id).changes), 0),
      ),
    wasSeen: async (id, topic) => seen.get(id, topic ?? null, topic ?? null) !== undefined,
    async key(id) {
      const row = find.get(id);
      return row && { thumbprint: String(row.thumbprint), owner: textOf(row.owner) };
    },
    addKey: async (id, { thumbprint, owner }) =>
      immediately(db, () => insertKey.run(id, thumbprint, owner ?? null)).changes > 0,
    removeKey: async (id) => immediately(db, () => remove.run(id)).changes > 0,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function createTopicMakers(db: DatabaseSync): TopicMakerStore {
  const insert = db.prepare("INSERT OR REPLACE INTO topic_makers (topic, maker) VALUES (?, ?)");
  return {
    made: async (topic, maker) => void immediately(db, () => insert.run(topic, maker)),
    makers: async () =>
      db
        .prepare("SELECT topic, maker FROM topic_makers")
        .all()
        .map(({ topic, maker }) => ({ topic: String(topic), maker: String(maker) })),
  };
}

function createRevoked(db: DatabaseSync): RevokedCapabilityStore {
  const row = db.prepare("SELECT until FROM revoked_capabilities WHERE topic = ? AND issuer = ? AND jti = ?");
  const insert = db.prepare(`
    INSERT INTO revoked_capabilities (topic, issuer, jti, until) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET until = max(until, excluded.until)`);
  const insertBlock = db.prepare("INSERT INTO revoked_hashes (until, hashes) VALUES (?, ?)");
  return {
    blocks: async (now) =>
      db
        .prepare("SELECT hashes FROM revoked_hashes WHERE until > ?")
        .all(now)
        .map(({ hashes }) => hashes as Uint8Array),
    async countOf(issuer, now) {
      const sql = "SELECT count(*) AS n FROM revoked_capabilities WHERE issuer = ? AND until > ?";
      return Number(db.prepare(sql).get(issuer, now)?.n);
    },
    keep: async ({ topic, issuer, ids, until }, block) =>
      durably(db, () => {
        for (const id of ids) insert.run(topic, issuer, id, until);
        insertBlock.run(until, block);
      }),
    async until(topic, issuer, id) {
      const found = row.get(topic, issuer, id)?.until;
      return found === undefined ? undefined : Number(found);
    },
    async forget(now) {
      for (const table of ["revoked_capabilities", "revoked_hashes"]) {
        db.prepare(`DELETE FROM ${table} WHERE until <= ?`).run(now);
      }
    },
  };
}
