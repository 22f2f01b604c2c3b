// Every table that a gateway keeps, in the order in which they are copied. Not here are
// turns, leases and news of gateways, which end with the processes they are of; devices, credentials and approvers are copied whole.
import { columnsOf, type PlainRow, type TableCopy } from "./table-copy.ts";

const upsert = (key: string, ...names: string[]) =>
  `ON CONFLICT (${key}) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join(", ")}`;
const identity = (table: string, column: string) =>
  `SELECT setval(pg_get_serial_sequence('${table}', '${column}'), greatest((SELECT max(${column}) FROM ${table}), 1))`;
const sequence = (name: string, table: string) =>
  `SELECT setval('${name}', greatest((SELECT max(number) FROM ${table}), 1))`;
const isSecret = ({ name }: PlainRow) => (name === "secret" ? "secret" : undefined);

const host: TableCopy[] = [
  {
    component: "host",
    name: "host_settings",
    columns: columnsOf("name value:sealed", { value: isSecret }),
    order: ["name"],
    conflict: upsert("name", "value"),
  },
  {
    component: "host",
    name: "audit",
    columns: columnsOf(
      "seq:int at:int action reason:bytes actor:bytes subject:bytes topic:bytes detail count:int hash",
    ),
    order: ["seq"],
  },
  {
    component: "host",
    name: "audit_head",
    columns: columnsOf("only>one:int seq:int hash"),
    order: ["one"],
    conflict: upsert("one", "seq", "hash"),
  },
  {
    component: "host",
    name: "signing_keys",
    columns: columnsOf("kid private_jwk:sealed public_jwk created_at:int retired_at:int last_exp:int", {
      private_jwk: ({ kid }) => `signing key ${kid}`,
    }),
    order: ["kid"],
  },
  {
    component: "host",
    name: "issued_tokens",
    columns: columnsOf("jti:bytes sub:bytes claims iat:int exp:int kid"),
    order: ["jti"],
  },
  {
    component: "host",
    name: "revoked_tokens",
    columns: columnsOf("number:int jti:bytes revoked_at:int forget_at:int"),
    order: ["number"],
    after: [
      `UPDATE host_numbers SET value = greatest(value, (SELECT coalesce(max(number), 0) FROM revoked_tokens))
       WHERE name = 'revocations'`,
    ],
  },
  { component: "host", name: "id_owners", columns: columnsOf("id:bytes issuer"), order: ["id"] },
];

const rooms: TableCopy[] = [
  {
    component: "gateway",
    name: "level_decisions",
    columns: columnsOf("n>number:int id topic level by>decided_by:bytes at>decided_at:int"),
    order: ["number"],
    after: [sequence("level_decisions_numbers", "level_decisions")],
  },
  { component: "gateway", name: "participants_seen", columns: columnsOf("topic id"), order: ["id", "topic"] },
  {
    component: "gateway",
    name: "participant_keys",
    columns: columnsOf("id thumbprint owner:bytes"),
    order: ["id"],
  },
  { component: "gateway", name: "topic_makers", columns: columnsOf("topic maker:bytes"), order: ["topic"] },
  {
    component: "gateway",
    name: "revoked_capabilities",
    columns: columnsOf("topic issuer jti:bytes until>until_ms:int"),
    order: ["topic", "issuer", "jti"],
  },
  {
    component: "gateway",
    name: "revoked_hashes",
    columns: columnsOf("n>number:int until>until_ms:int hashes:blob"),
    order: ["number"],
    after: [identity("revoked_hashes", "number")],
  },
];

const tree: TableCopy[] = [
  {
    component: "aggregator",
    name: "tree_facts",
    columns: columnsOf("name value"),
    order: ["name"],
    conflict: upsert("name", "value"),
    fromFile: `SELECT name, value FROM tree_facts WHERE name = 'aggregator_id'
      UNION ALL SELECT 'panic', CASE value WHEN 1 THEN 'on' ELSE 'off' END FROM tree_facts WHERE name = 'panic'
      UNION ALL SELECT 'root', json_object('segment', s.value, 'since', t.value) FROM tree_facts AS s, tree_facts AS t
        WHERE s.name = 'root_segment' AND t.name = 'root_since'`,
    fromStore: `SELECT name, value FROM tree_facts WHERE name = 'aggregator_id'
      UNION ALL SELECT name, CASE value WHEN 'on' THEN '1' ELSE '0' END FROM tree_facts WHERE name = 'panic'
      UNION ALL SELECT 'root_segment', value::json ->> 'segment' FROM tree_facts WHERE name = 'root'
      UNION ALL SELECT 'root_since', value::json ->> 'since' FROM tree_facts WHERE name = 'root'`,
    intoFile: `INSERT OR REPLACE INTO tree_facts (name, value)
      SELECT name, CASE WHEN name IN ('panic', 'root_since') THEN CAST(value AS INTEGER) ELSE value END
      FROM (SELECT ? AS name, ? AS value)`,
  },
  {
    component: "aggregator",
    name: "tree_numbers",
    columns: columnsOf("name value:int"),
    order: ["name"],
    conflict: upsert("name", "value"),
    fromFile: `SELECT name, value FROM tree_facts WHERE name = 'epoch_floor'
      UNION ALL SELECT 'gates', seq FROM sqlite_sequence WHERE name = 'gates'`,
    fromStore: "SELECT name, value FROM tree_numbers WHERE name = 'epoch_floor'",
    intoFile: "INSERT OR REPLACE INTO tree_facts (name, value) VALUES (?, ?)",
  },
  {
    component: "aggregator",
    name: "segment_claims",
    columns: columnsOf(
      "segment:bytes subserver_id:bytes identity:bytes registrant:bytes is_proven:flag until_ms:int",
    ),
    order: ["segment"],
    // Older claims do not have their registrant.
    fromFile: `SELECT segment, subserver_id, identity, coalesce(registrant, '') AS registrant, is_proven, until_ms
      FROM segment_claims`,
  },
  {
    component: "aggregator",
    name: "subserver_epochs",
    columns: columnsOf("number:int subserver_id:bytes epoch:int"),
    order: ["number"],
    after: [sequence("subserver_epochs_numbers", "subserver_epochs")],
  },
  {
    component: "aggregator",
    name: "used_proofs",
    columns: columnsOf("id:bytes until_ms:int"),
    order: ["id"],
  },
  {
    component: "aggregator",
    name: "budget_uses",
    columns: columnsOf("subserver_id:bytes mutable_calls:int cost_units:real calls seen_at:int"),
    order: ["subserver_id"],
  },
  {
    component: "aggregator",
    name: "gates",
    columns: columnsOf(
      "number:int id:bytes status principal:bytes tool:bytes digest:bytes created_at:int expires_at:int settled_at:int is_delivered:flag chars:int version:int gateway facts arguments result",
    ),
    order: ["number"],
  },
  { component: "aggregator", name: "gate_proofs", columns: columnsOf("hash"), order: ["hash"] },
  { component: "aggregator", name: "authority_chain", columns: columnsOf("n:int entry"), order: ["n"] },
  {
    component: "aggregator",
    name: "tool_pins",
    columns: columnsOf(
      "server:bytes tool:bytes hash text length:int pinned_at:int payer:bytes changed_hash changed_text changed_length:int changed_at:int canonical:bytes",
    ),
    order: ["server", "tool"],
    fromFile: `SELECT *, chars - coalesce(length(changed_text), 0) AS length, length(changed_text) AS changed_length
      FROM tool_pins`,
    intoFile: `INSERT OR REPLACE INTO tool_pins (server, tool, hash, text, chars, pinned_at, payer, changed_hash, changed_text,
        changed_at, canonical)
      SELECT ?1, ?2, ?3, ?4, ?5 + coalesce(?10, 0), ?6, ?7, ?8, ?9, ?11, ?12`,
  },
];

const bridges: TableCopy[] = [
  {
    component: "bridges",
    name: "bridge_codes",
    columns: columnsOf("hash:bytes bridge:bytes participant:bytes level expires_at:int"),
    order: ["hash"],
  },
  {
    component: "bridges",
    name: "bridge_links",
    columns: columnsOf("bridge:bytes user>person:bytes id participant:bytes level at:int"),
    order: ["bridge", "person"],
  },
  {
    component: "bridges",
    name: "bridge_positions",
    columns: columnsOf("bridge:bytes channel:bytes epoch seq:int"),
    order: ["bridge", "channel"],
  },
  {
    component: "bridges",
    name: "bridge_heard",
    columns: columnsOf("bridge:bytes channel:bytes at:bytes"),
    order: ["bridge", "channel"],
  },
  {
    component: "bridges",
    name: "bridge_cards",
    columns: columnsOf(
      "id:bytes bridge:bytes channel:bytes proposal:bytes seq:int expires_at:int ref:bytes claimed_by:bytes is_closed:flag",
    ),
    order: ["id"],
  },
  {
    component: "bridges",
    name: "bridge_messages",
    columns: columnsOf(
      "at:int bridge:bytes channel:bytes topic:bytes message:bytes ref:bytes envelope:bytes answers:bytes",
    ),
    order: ["at"],
    after: [identity("bridge_messages", "at")],
  },
  {
    component: "bridges",
    name: "push_key",
    columns: columnsOf("id:int jwk>sealed:sealed", { jwk: () => "push_key" }),
    order: ["id"],
  },
];

const authorization: TableCopy[] = [
  {
    component: "authorization",
    name: "oauth_artifacts",
    columns: columnsOf(
      "kind key:bytes payload>sealed:sealed consent uid:bytes expires_at:int consumed_at:int",
      {
        payload: ({ kind, key }) => `oauth_artifacts ${kind} ${key}`,
      },
    ),
    order: ["kind", "key"],
  },
  {
    component: "authorization",
    name: "oauth_consents",
    columns: columnsOf("id body created_at:int expires_at:int used_at:int"),
    order: ["id"],
  },
  {
    component: "authorization",
    name: "oauth_consent_tokens",
    columns: columnsOf("jti consent expires_at:int"),
    order: ["jti"],
  },
];

/** What an envelope counts as, in both. */
const size = "length(CAST(text AS BLOB)) + 256";

/** Hashes of ids are made anew when the log is opened. */
const topics: TableCopy[] = [
  {
    component: "topics",
    name: "topic_log",
    columns: columnsOf("name value"),
    order: ["name"],
    conflict: upsert("name", "value"),
    fromFile: "SELECT name, value FROM meta WHERE name = 'epoch'",
    fromStore: "SELECT name, value FROM topic_log WHERE name = 'epoch'",
    intoFile: "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)",
  },
  {
    component: "topics",
    name: "envelopes",
    columns: columnsOf("topic:int seq:int at:int bytes:int id sender digest text"),
    order: ["topic", "seq"],
    fromFile: `SELECT topic, seq, at, id, sender, digest, text,
        sum(${size}) OVER (PARTITION BY topic ORDER BY seq) AS bytes FROM envelopes`,
    intoFile: `INSERT OR REPLACE INTO envelopes (topic, seq, at, id, sender, digest, text)
      SELECT ?1, ?2, ?3, ?5, ?6, ?7, ?8 WHERE ?4 > 0`,
  },
  {
    component: "topics",
    name: "topics",
    columns: columnsOf("key:int name last:int last_at:int bytes:int"),
    order: ["key"],
    fromFile: `SELECT key, name, last, last_at,
        (SELECT coalesce(sum(${size}), 0) FROM envelopes WHERE topic = topics.key) AS bytes FROM topics`,
    after: [identity("topics", "key")],
  },
  {
    component: "topics",
    name: "topic_firsts",
    columns: columnsOf("topic:int first:int"),
    order: ["topic"],
    fromFile: `SELECT key AS topic,
        coalesce((SELECT seq FROM envelopes WHERE topic = key ORDER BY seq LIMIT 1), last + 1) AS first FROM topics`,
    intoFile: null,
  },
];

export const tableCopies: readonly TableCopy[] = [
  ...host,
  ...rooms,
  ...tree,
  ...bridges,
  ...authorization,
  ...topics,
];

/** Only in files: what was appended by a seq, once in every mebibyte, and before the first that is kept. */
export const byteMarks = `
  SELECT topic, bytes, seq FROM (
    SELECT topic, seq, bytes, lag(bytes) OVER (PARTITION BY topic ORDER BY seq) AS before FROM envelopes
  ) AS e WHERE bytes / 1048576 > coalesce(before, 0) / 1048576
  UNION SELECT topic, bytes - octet_length(text) - 256, seq - 1 FROM envelopes AS e
  WHERE seq > 1 AND seq = (SELECT first FROM topic_firsts AS f WHERE f.topic = e.topic)`;
