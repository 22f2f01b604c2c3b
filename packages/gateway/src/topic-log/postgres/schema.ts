// The tables of the topic log on PostgreSQL. Forward only: a change is a new entry at the end.
import type { PostgresComponent } from "@mcpx/host";

export const postgresTopicLogStore: PostgresComponent = {
  component: "topics",
  migrations: [
    {
      version: 1,
      // The head of a topic is written by every append, so its page has room for the next versions of its row. `first`
      // stands apart from it: a trim writes that alone, and no append waits for one. `envelopes.bytes` counts all that
      // was appended to the topic up to this entry; `at` never goes back: both are searched by the primary key.
      up: `
        CREATE TABLE topic_log (name text PRIMARY KEY, value text NOT NULL);
        INSERT INTO topic_log VALUES ('epoch', left(replace(gen_random_uuid()::text, '-', ''), 16));

        CREATE TABLE topics (
          key bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          last bigint NOT NULL DEFAULT 0,
          last_at bigint NOT NULL DEFAULT 0,
          bytes bigint NOT NULL DEFAULT 0,
          name text COLLATE "C" NOT NULL UNIQUE
        ) WITH (fillfactor = 50);

        CREATE TABLE topic_firsts (
          topic bigint PRIMARY KEY REFERENCES topics,
          first bigint NOT NULL DEFAULT 1
        ) WITH (fillfactor = 50);

        CREATE TABLE envelopes (
          topic bigint NOT NULL,
          seq bigint NOT NULL,
          at bigint NOT NULL,
          bytes bigint NOT NULL,
          id text COLLATE "C" NOT NULL,
          sender text NOT NULL,
          digest text NOT NULL,
          text text NOT NULL,
          PRIMARY KEY (topic, seq),
          UNIQUE (topic, id)
        );
      `,
    },
    {
      version: 2,
      // Where several gateways share the store, one of them owns a topic: the number of a row of `cluster_gateways`.
      up: `
        ALTER TABLE topics ADD COLUMN owner bigint, ADD COLUMN owner_epoch bigint NOT NULL DEFAULT 0;
        CREATE INDEX topics_owned ON topics (owner) WHERE owner IS NOT NULL;
      `,
    },
  ],
};
