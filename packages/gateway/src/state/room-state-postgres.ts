// What the rooms keep, on PostgreSQL. Each verb is one statement, so that it is done or not.
import { askPostgres, byteaArray, type PostgresComponent, type PostgresSession, textArray } from "@mcpx/host";
import type {
  DecidedLevel,
  DecisionStore,
  ParticipantStore,
  RevokedCapabilityStore,
  RoomState,
  TopicMakerStore,
} from "./room-state.ts";

/** Ids and topics have no character that PostgreSQL's text cannot hold; what else strangers choose is kept as bytes. */
export const roomsOnPostgres: PostgresComponent = {
  component: "gateway",
  migrations: [
    {
      version: 1,
      up: `
        CREATE SEQUENCE level_decisions_numbers;
        CREATE TABLE level_decisions (
          id text COLLATE "C" NOT NULL,
          topic text COLLATE "C" NOT NULL,
          number bigint NOT NULL,
          level text NOT NULL,
          decided_by bytea NOT NULL,
          decided_at bigint NOT NULL,
          PRIMARY KEY (id, topic)
        );
        CREATE TABLE participants_seen (
          id text COLLATE "C" NOT NULL,
          topic text COLLATE "C" NOT NULL,
          PRIMARY KEY (id, topic)
        );
        CREATE TABLE participant_keys (id text COLLATE "C" PRIMARY KEY, thumbprint text NOT NULL, owner bytea);
        CREATE TABLE topic_makers (topic text COLLATE "C" PRIMARY KEY, maker bytea NOT NULL);
        CREATE TABLE revoked_capabilities (
          topic text COLLATE "C" NOT NULL,
          issuer text COLLATE "C" NOT NULL,
          jti bytea NOT NULL,
          until_ms bigint NOT NULL,
          PRIMARY KEY (topic, issuer, jti)
        );
        CREATE INDEX revoked_capabilities_until ON revoked_capabilities (until_ms);
        CREATE INDEX revoked_capabilities_issuer ON revoked_capabilities (issuer, until_ms);
        CREATE TABLE revoked_hashes (
          number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          until_ms bigint NOT NULL,
          hashes bytea NOT NULL
        );
      `,
    },
  ],
};

const decisions = {
  name: "decisions-all",
  text: "SELECT id, topic, level FROM level_decisions ORDER BY number",
};
const decide = {
  name: "decisions-make",
  text: `
    WITH covered AS (DELETE FROM level_decisions WHERE id = $1 AND $2::text = '*' AND topic <> '*')
    INSERT INTO level_decisions (id, topic, number, level, decided_by, decided_at)
    VALUES ($1, $2, nextval('level_decisions_numbers'), $3, $4, $5::bigint)
    ON CONFLICT (id, topic) DO UPDATE SET number = excluded.number, level = excluded.level,
      decided_by = excluded.decided_by, decided_at = excluded.decided_at`,
};
const counts = {
  name: "participants-count",
  text: "SELECT (SELECT count(*) FROM participants_seen), (SELECT count(*) FROM participant_keys)",
};
const saw = {
  name: "participants-saw",
  text: `
    INSERT INTO participants_seen (topic, id) SELECT * FROM unnest($1::text[], $2::text[])
    ON CONFLICT DO NOTHING RETURNING 1`,
};
const wasSeen = {
  name: "participants-seen",
  text: `SELECT 1 FROM participants_seen
         WHERE id = $1 AND (cardinality($2::text[]) = 0 OR topic = ($2::text[])[1]) LIMIT 1`,
};
const findKey = {
  name: "participants-key",
  text: "SELECT thumbprint, owner FROM participant_keys WHERE id = $1",
};
const addKey = {
  name: "participants-add-key",
  text: `INSERT INTO participant_keys (id, thumbprint, owner) VALUES ($1, $2, ($3::bytea[])[1])
         ON CONFLICT DO NOTHING RETURNING 1`,
};
const removeKey = {
  name: "participants-remove-key",
  text: "DELETE FROM participant_keys WHERE id = $1 RETURNING 1",
};
const made = {
  name: "topics-made",
  text: `INSERT INTO topic_makers (topic, maker) VALUES ($1, $2)
         ON CONFLICT (topic) DO UPDATE SET maker = excluded.maker`,
};
const makers = { name: "topics-makers", text: "SELECT topic, maker FROM topic_makers" };
const blocks = {
  name: "capabilities-blocks",
  text: "SELECT hashes FROM revoked_hashes WHERE until_ms > $1::bigint",
};
const countOf = {
  name: "capabilities-count",
  text: "SELECT count(*) FROM revoked_capabilities WHERE issuer = $1 AND until_ms > $2::bigint",
};
const keep = {
  name: "capabilities-revoke",
  text: `
    WITH kept AS (
      INSERT INTO revoked_capabilities AS old (topic, issuer, jti, until_ms)
      SELECT DISTINCT $1::text, $2::text, jti, $4::bigint FROM unnest($3::bytea[]) AS jti
      ON CONFLICT (topic, issuer, jti) DO UPDATE SET until_ms = greatest(old.until_ms, excluded.until_ms)
    )
    INSERT INTO revoked_hashes (until_ms, hashes) VALUES ($4::bigint, $5)`,
};
const until = {
  name: "capabilities-until",
  text: "SELECT until_ms FROM revoked_capabilities WHERE topic = $1 AND issuer = $2 AND jti = $3",
};
const forget = {
  name: "capabilities-forget",
  text: `
    WITH gone AS (DELETE FROM revoked_capabilities WHERE until_ms <= $1::bigint)
    DELETE FROM revoked_hashes WHERE until_ms <= $1::bigint`,
};

/** The store has the tables of `roomsOnPostgres`; the session is closed by the code that opened it. */
export function createPostgresRoomState(session: PostgresSession): RoomState {
  return {
    decisions: createDecisions(session),
    participants: createParticipants(session),
    topicMakers: createTopicMakers(session),
    revoked: createRevoked(session),
  };
}

function createDecisions(session: PostgresSession): DecisionStore {
  return {
    decisions: async () =>
      (await askPostgres<[id: string, topic: string, level: DecidedLevel]>(session, decisions)).map(
        ([id, topic, level]) => ({ id, topic, level }),
      ),
    async decide({ id, topic, level, by, at }) {
      await askPostgres(session, decide, [id, topic, level, Buffer.from(by), at]);
    },
  };
}

function createParticipants(session: PostgresSession): ParticipantStore {
  const isDone = async (...asked: Parameters<typeof askPostgres>) => (await askPostgres(...asked)).length > 0;
  return {
    async counts() {
      const [row] = await askPostgres<[seen: number, keys: number]>(session, counts);
      return { seen: row?.[0] ?? 0, keys: row?.[1] ?? 0 };
    },
    async saw(seen) {
      const values = [textArray(seen.map(({ topic }) => topic)), textArray(seen.map(({ id }) => id))];
      return (await askPostgres(session, saw, values)).length;
    },
    wasSeen: (id, topic) => isDone(session, wasSeen, [id, textArray(topic === undefined ? [] : [topic])]),
    async key(id) {
      const [row] = await askPostgres<[thumbprint: string, owner: Buffer | null]>(session, findKey, [id]);
      return row && { thumbprint: row[0], owner: row[1]?.toString() };
    },
    addKey: (id, { thumbprint, owner }) =>
      isDone(session, addKey, [id, thumbprint, byteaArray(owner === undefined ? [] : [Buffer.from(owner)])]),
    removeKey: (id) => isDone(session, removeKey, [id]),
  };
}

function createTopicMakers(session: PostgresSession): TopicMakerStore {
  return {
    made: async (topic, maker) => void (await askPostgres(session, made, [topic, Buffer.from(maker)])),
    makers: async () =>
      (await askPostgres<[topic: string, maker: Buffer]>(session, makers)).map(([topic, maker]) => ({
        ...{ topic, maker: maker.toString() },
      })),
  };
}

function createRevoked(session: PostgresSession): RevokedCapabilityStore {
  return {
    blocks: async (now) => (await askPostgres<[Buffer]>(session, blocks, [now])).map(([block]) => block),
    async countOf(issuer, now) {
      const [row] = await askPostgres<[number]>(session, countOf, [issuer, now]);
      return row?.[0] ?? 0;
    },
    async keep({ topic, issuer, ids, until: untilMs }, block) {
      const jtis = byteaArray(ids.map((id) => Buffer.from(id)));
      await askPostgres(session, keep, [topic, issuer, jtis, untilMs, Buffer.from(block)]);
    },
    async until(topic, issuer, id) {
      const [row] = await askPostgres<[number]>(session, until, [topic, issuer, Buffer.from(id)]);
      return row?.[0];
    },
    async forget(now) {
      await askPostgres(session, forget, [now]);
    },
  };
}
