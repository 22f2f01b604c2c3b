// How a store on PostgreSQL asks: given by the owner of the connection. A statement is prepared under its name.

export type AskPostgres = <Row extends unknown[]>(
  statement: { readonly name: string; readonly text: string },
  values?: readonly (string | number | Buffer | null)[],
) => Promise<Row[]>;

/**
 * Forward only: a change is a new entry at the end. Names of people and platforms are of any characters, and so bytes.
 */
export const bridgesOnPostgres: {
  component: string;
  migrations: readonly { version: number; up: string }[];
} = {
  component: "bridges",
  migrations: [
    {
      version: 1,
      up: `
        CREATE TABLE bridge_codes (
          hash bytea PRIMARY KEY, bridge bytea NOT NULL, participant bytea NOT NULL, level text,
          expires_at bigint NOT NULL
        );
        CREATE TABLE bridge_links (
          bridge bytea NOT NULL, person bytea NOT NULL, id text NOT NULL, participant bytea NOT NULL, level text,
          at bigint NOT NULL, PRIMARY KEY (bridge, person)
        );
        CREATE TABLE bridge_positions (
          bridge bytea NOT NULL, channel bytea NOT NULL, epoch text NOT NULL, seq bigint NOT NULL,
          PRIMARY KEY (bridge, channel)
        );
        CREATE TABLE bridge_cards (
          id bytea PRIMARY KEY, bridge bytea NOT NULL, channel bytea NOT NULL, proposal bytea NOT NULL,
          seq bigint NOT NULL, expires_at bigint NOT NULL, ref bytea, claimed_by bytea,
          is_closed boolean NOT NULL DEFAULT false, UNIQUE (bridge, channel, proposal)
        );
        CREATE TABLE push_key (id integer PRIMARY KEY CHECK (id = 1), sealed text NOT NULL);
        CREATE TABLE push_devices (endpoint_hash bytea PRIMARY KEY, sealed text NOT NULL, at bigint NOT NULL);
      `,
    },
    {
      version: 2,
      up: `
        CREATE TABLE bridge_messages (
          at bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, bridge bytea NOT NULL, channel bytea NOT NULL,
          topic bytea NOT NULL, message bytea NOT NULL, ref bytea NOT NULL, envelope bytea NOT NULL, answers bytea,
          UNIQUE (bridge, channel, topic, message)
        );
        CREATE INDEX bridge_messages_envelope ON bridge_messages (bridge, channel, topic, envelope);
        CREATE INDEX bridge_messages_at ON bridge_messages (bridge, channel, at);
      `,
    },
    {
      version: 3,
      up: `
        CREATE TABLE bridge_heard (
          bridge bytea NOT NULL, channel bytea NOT NULL, at bytea NOT NULL, PRIMARY KEY (bridge, channel)
        );
      `,
    },
  ],
};

export function bytes(text: string): Buffer {
  return Buffer.from(text);
}
