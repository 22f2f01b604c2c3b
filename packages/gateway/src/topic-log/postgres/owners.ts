// Whose topic it is, on PostgreSQL: one row says who owns a topic and how often that has changed. Every append names that
// count (`append-entries.ts`), so an owner that does not know yet that it is no longer one stores nothing.
import { askPostgres, type PostgresSession, textArray } from "@mcpx/host";

export interface TopicOwner {
  /** The number of a gateway. */
  owner: number;
  epoch: number;
}

export interface TopicOwners {
  /** Whose topic it is; undefined where it is nobody's, or where the lease of its owner has ended. */
  find(topic: string): Promise<TopicOwner | undefined>;
  /**
   * Whose topic it is. It becomes this gateway's where it is nobody's, or where the lease of its owner has ended. Rejects
   * where this gateway's own lease has.
   */
  claim(topic: string, gateway: number): Promise<TopicOwner>;
  /** From now on it is nobody's. */
  release(topics: readonly string[], gateway: number): Promise<void>;
}

const isLiving = (number: string) =>
  `EXISTS (SELECT 1 FROM cluster_gateways AS g WHERE g.number = ${number} AND g.lease_until > clock_timestamp())`;

const find = {
  name: "topics-owner",
  text: `SELECT owner, owner_epoch FROM topics AS t WHERE name = $1 AND ${isLiving("t.owner")}`,
};

/** The row is locked before its owner is judged, so of two that claim it the second sees the first. */
const claim = {
  name: "topics-claim",
  text: `
    WITH before AS (
      SELECT key, owner, owner_epoch FROM topics WHERE name = $1 AND ${isLiving("$2")} FOR UPDATE
    ), taken AS (
      UPDATE topics AS t SET owner = $2, owner_epoch = t.owner_epoch + 1 FROM before
      WHERE t.key = before.key AND (before.owner IS NULL OR NOT ${isLiving("before.owner")})
      RETURNING t.owner, t.owner_epoch
    )
    SELECT owner, owner_epoch FROM taken
    UNION ALL
    SELECT owner, owner_epoch FROM before WHERE NOT EXISTS (SELECT 1 FROM taken)`,
};

const release = {
  name: "topics-release",
  text: "UPDATE topics SET owner = NULL WHERE name = ANY ($1::text[]) AND owner = $2",
};

/** The store has the tables of the topic log and of the cluster. */
export function createPostgresTopicOwners(session: PostgresSession): TopicOwners {
  return {
    async find(topic) {
      const [row] = await askPostgres<[number, number]>(session, find, [topic]);
      return row && { owner: row[0], epoch: row[1] };
    },
    async claim(topic, gateway) {
      const [row] = await askPostgres<[number, number]>(session, claim, [topic, gateway]);
      if (row === undefined)
        throw new Error(`the topic ${topic} is not there, or the lease of this gateway has ended`);
      return { owner: row[0], epoch: row[1] };
    },
    release: async (topics, gateway) =>
      void (await askPostgres(session, release, [textArray(topics), gateway])),
  };
}
