// Which gateways share a PostgreSQL, in its own tables and by its own clock.
import { askPostgres } from "../postgres/ask-postgres.ts";
import type { PostgresComponent } from "../postgres/migrate.ts";
import type { PostgresSession } from "../postgres/session.ts";
import type { ClusterStore } from "./cluster-store.ts";

export const clusterOnPostgres: PostgresComponent = {
  component: "cluster",
  migrations: [
    {
      version: 1,
      up: `
        CREATE TABLE cluster_gateways (
          number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          id text NOT NULL,
          address text NOT NULL,
          version text NOT NULL,
          lease_until timestamptz NOT NULL
        ) WITH (fillfactor = 50);
        CREATE TABLE cluster_duties (name text PRIMARY KEY, holder bigint NOT NULL);
        CREATE TABLE cluster_news (
          seq bigint PRIMARY KEY,
          kind text NOT NULL,
          body text NOT NULL
        );
        CREATE TABLE cluster_news_head (last bigint NOT NULL);
        INSERT INTO cluster_news_head VALUES (0);
      `,
    },
  ],
};

/** `$2` in milliseconds from now. */
const until = "clock_timestamp() + $2::bigint * interval '1 millisecond'";

const join = {
  name: "cluster-join",
  text: `INSERT INTO cluster_gateways (id, address, version, lease_until) VALUES ($1, $3, $4, ${until}) RETURNING number`,
};

const renew = {
  name: "cluster-renew",
  text: `
    UPDATE cluster_gateways SET lease_until = ${until}
    WHERE number = $1 AND lease_until > clock_timestamp() RETURNING number`,
};

const end = { name: "cluster-end", text: "DELETE FROM cluster_gateways WHERE number = $1" };

const living = {
  name: "cluster-living",
  text: `
    SELECT number, id, address, version,
      ceil(extract(epoch FROM lease_until - clock_timestamp()) * 1000)::bigint
    FROM cluster_gateways WHERE lease_until > clock_timestamp() ORDER BY number`,
};

/** The second to ask at the same moment waits for the row, and then looks at its holder of now. */
const hold = {
  name: "cluster-hold",
  text: `
    INSERT INTO cluster_duties AS d (name, holder)
    SELECT $1, number FROM cluster_gateways WHERE number = $2 AND lease_until > clock_timestamp()
    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder
    WHERE d.holder = excluded.holder OR NOT EXISTS (
      SELECT 1 FROM cluster_gateways AS g WHERE g.number = d.holder AND g.lease_until > clock_timestamp()
    )
    RETURNING holder`,
};

/** The head's row makes the seqs dense and visible in their order: nobody who reads after one misses an earlier one. */
const tell = {
  name: "cluster-tell",
  text: `
    WITH head AS (UPDATE cluster_news_head SET last = last + 1 RETURNING last)
    INSERT INTO cluster_news (seq, kind, body) SELECT last, $1, $2 FROM head RETURNING seq`,
};

const newsAfter = {
  name: "cluster-news-after",
  text: "SELECT seq, kind, body FROM cluster_news WHERE seq > $1 ORDER BY seq LIMIT $2",
};

const lastNews = { name: "cluster-last-news", text: "SELECT last FROM cluster_news_head" };

const trim = {
  name: "cluster-trim",
  text: `
    WITH gone AS (DELETE FROM cluster_gateways WHERE lease_until < clock_timestamp() - interval '1 hour')
    DELETE FROM cluster_news WHERE seq <= (SELECT last FROM cluster_news_head) - $1::bigint`,
};

/** The store has the tables of `clusterOnPostgres`; the session is closed by the code that opened it. */
export function createPostgresClusterStore(session: PostgresSession): ClusterStore {
  return {
    async join({ id, address, version }, leaseMs) {
      const [row] = await askPostgres<[number]>(session, join, [id, leaseMs, address, version]);
      if (row === undefined) throw new Error("the store gave this gateway no number");
      return row[0];
    },
    renew: async (number, leaseMs) => (await askPostgres(session, renew, [number, leaseMs])).length > 0,
    end: async (number) => void (await askPostgres(session, end, [number])),
    gateways: async () =>
      (await askPostgres<[number, string, string, string, number]>(session, living)).map(
        ([number, id, address, version, leaseLeftMs]) => ({ number, id, address, version, leaseLeftMs }),
      ),
    hold: async (duty, number) => (await askPostgres(session, hold, [duty, number])).length > 0,
    async tell(kind, body) {
      const [row] = await askPostgres<[number]>(session, tell, [kind, JSON.stringify(body)]);
      if (row === undefined) throw new Error("the store gave these news no number");
      return row[0];
    },
    newsAfter: async (seq, limit) =>
      (await askPostgres<[number, string, string]>(session, newsAfter, [seq, limit])).map(
        ([at, kind, body]) => ({ seq: at, kind, body: JSON.parse(body) as unknown }),
      ),
    lastNews: async () => (await askPostgres<[number]>(session, lastNews))[0]?.[0] ?? 0,
    trim: async (count) => void (await askPostgres(session, trim, [count])),
  };
}
