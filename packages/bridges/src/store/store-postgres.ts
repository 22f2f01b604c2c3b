// What a bridge remembers, on PostgreSQL. Each verb is one statement.
import { isLevel } from "@mcpx/protocol";
import {
  type BridgeStore,
  type Card,
  codesMax,
  type KeptMessage,
  type Link,
  messagesMax,
} from "./bridge-store.ts";
import { newId } from "./new-id.ts";
import { type AskPostgres, bytes } from "./postgres.ts";

const addCode = {
  name: "bridges-add-code",
  text: `
    WITH ended AS (DELETE FROM bridge_codes WHERE expires_at <= $6::bigint)
    INSERT INTO bridge_codes SELECT $1::bytea, $2::bytea, $3::bytea, $4::text, $5::bigint
    WHERE (SELECT count(*) FROM bridge_codes WHERE bridge = $2 AND expires_at > $6::bigint) < ${codesMax}
    RETURNING 1`,
};
const linkColumns = "id, bridge, person, participant, level, at";
const redeem = {
  name: "bridges-redeem",
  text: `
    WITH spent AS (
      DELETE FROM bridge_codes WHERE hash = $2 AND bridge = $1 AND expires_at > $5::bigint
      RETURNING participant, level
    )
    INSERT INTO bridge_links (bridge, person, id, participant, level, at)
    SELECT $1::bytea, $3::bytea, $4::text, participant, level, $5::bigint FROM spent
    ON CONFLICT (bridge, person) DO UPDATE SET id = excluded.id, participant = excluded.participant,
      level = excluded.level, at = excluded.at RETURNING ${linkColumns}`,
};
const link = {
  name: "bridges-link",
  text: `SELECT ${linkColumns} FROM bridge_links WHERE bridge = $1 AND person = $2`,
};
const links = {
  name: "bridges-links",
  text: `SELECT ${linkColumns} FROM bridge_links WHERE bridge = $1 ORDER BY participant, person`,
};
const unlink = {
  name: "bridges-unlink",
  text: `DELETE FROM bridge_links WHERE bridge = $1 AND person = $2 RETURNING ${linkColumns}`,
};
const position = {
  name: "bridges-position",
  text: "SELECT epoch, seq FROM bridge_positions WHERE bridge = $1 AND channel = $2",
};
const setPosition = {
  name: "bridges-set-position",
  text: `INSERT INTO bridge_positions VALUES ($1, $2, $3, $4::bigint)
         ON CONFLICT (bridge, channel) DO UPDATE SET epoch = excluded.epoch, seq = excluded.seq`,
};
const heard = {
  name: "bridges-heard",
  text: "SELECT at FROM bridge_heard WHERE bridge = $1 AND channel = $2",
};
const setHeard = {
  name: "bridges-set-heard",
  text: `INSERT INTO bridge_heard VALUES ($1, $2, $3)
         ON CONFLICT (bridge, channel) DO UPDATE SET at = excluded.at`,
};
const cardColumns = "id, bridge, channel, proposal, seq, expires_at, ref, claimed_by, is_closed";
/** A card that exists already is returned unchanged. */
const cardFor = {
  name: "bridges-card-for",
  text: `INSERT INTO bridge_cards AS old (id, bridge, channel, proposal, seq, expires_at)
         VALUES ($1, $2, $3, $4, $5::bigint, $6::bigint)
         ON CONFLICT (bridge, channel, proposal) DO UPDATE SET seq = old.seq RETURNING ${cardColumns}`,
};
const card = { name: "bridges-card", text: `SELECT ${cardColumns} FROM bridge_cards WHERE id = $1` };
const openCards = {
  name: "bridges-open-cards",
  text: `SELECT ${cardColumns} FROM bridge_cards WHERE bridge = $1 AND channel = $2 AND NOT is_closed ORDER BY seq`,
};
const setRef = { name: "bridges-set-ref", text: "UPDATE bridge_cards SET ref = $2 WHERE id = $1" };
const claim = {
  name: "bridges-claim",
  text: `UPDATE bridge_cards SET claimed_by = $2 WHERE id = $1 AND NOT is_closed AND claimed_by IS NULL
         RETURNING 1`,
};
const release = {
  name: "bridges-release",
  text: "UPDATE bridge_cards SET claimed_by = NULL WHERE id = $1",
};
const closeCard = {
  name: "bridges-close-card",
  text: "UPDATE bridge_cards SET is_closed = true WHERE id = $1",
};
/** One more than there may be is there for as long as this takes. */
const keepMessage = {
  name: "bridges-keep-message",
  text: `WITH old AS (DELETE FROM bridge_messages WHERE bridge = $1 AND channel = $2 AND at <=
           (SELECT at FROM bridge_messages WHERE bridge = $1 AND channel = $2
            ORDER BY at DESC LIMIT 1 OFFSET ${messagesMax - 1}))
         INSERT INTO bridge_messages (bridge, channel, topic, message, ref, envelope, answers)
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (bridge, channel, topic, message) DO NOTHING`,
};
const messageColumns = "message, ref, envelope, answers";
const messageNamed = {
  name: "bridges-message-named",
  text: `SELECT ${messageColumns} FROM bridge_messages
         WHERE bridge = $1 AND channel = $2 AND topic = $3 AND message = $4`,
};
const messageOf = {
  name: "bridges-message-of",
  text: `SELECT ${messageColumns} FROM bridge_messages
         WHERE bridge = $1 AND channel = $2 AND topic = $3 AND envelope = $4 ORDER BY at LIMIT 1`,
};
const forget = {
  name: "bridges-forget",
  text: `WITH cards AS (DELETE FROM bridge_cards WHERE expires_at < $1::bigint)
         DELETE FROM bridge_codes WHERE expires_at < $1::bigint`,
};
const removeBridge = {
  name: "bridges-remove",
  text: `WITH codes AS (DELETE FROM bridge_codes WHERE bridge = $1),
           links AS (DELETE FROM bridge_links WHERE bridge = $1),
           positions AS (DELETE FROM bridge_positions WHERE bridge = $1),
           heard AS (DELETE FROM bridge_heard WHERE bridge = $1),
           messages AS (DELETE FROM bridge_messages WHERE bridge = $1)
         DELETE FROM bridge_cards WHERE bridge = $1`,
};

type LinkRow = [
  id: string,
  bridge: Buffer,
  person: Buffer,
  participant: Buffer,
  level: string | null,
  at: number,
];
type CardRow = [
  id: Buffer,
  bridge: Buffer,
  channel: Buffer,
  proposal: Buffer,
  seq: number,
  expiresAt: number,
  ref: Buffer | null,
  claimedBy: Buffer | null,
  isClosed: boolean,
];

type MessageRow = [message: Buffer, ref: Buffer, envelope: Buffer, answers: Buffer | null];

/** The store has the tables of `bridgesOnPostgres`. */
export function createPostgresStore(ask: AskPostgres): BridgeStore {
  const linkIn = async (...asked: Parameters<AskPostgres>) => (await ask<LinkRow>(...asked)).map(readLink)[0];
  return {
    addCode: async ({ hash, bridge, participant, level, expiresAt }, now) =>
      (await ask(addCode, [bytes(hash), bytes(bridge), bytes(participant), level ?? null, expiresAt, now]))
        .length > 0,
    redeem: (bridge, hash, user, now) =>
      linkIn(redeem, [bytes(bridge), bytes(hash), bytes(user), newId(), now]),
    linkOf: (bridge, user) => linkIn(link, [bytes(bridge), bytes(user)]),
    links: async (bridge) => (await ask<LinkRow>(links, [bytes(bridge)])).map(readLink),
    unlink: (bridge, user) => linkIn(unlink, [bytes(bridge), bytes(user)]),
    async position(bridge, channel) {
      type Row = [epoch: string, seq: number];
      const [row] = await ask<Row>(position, [bytes(bridge), bytes(channel)]);
      return row && { epoch: row[0], seq: row[1] };
    },
    async setPosition(bridge, channel, { epoch, seq }) {
      await ask(setPosition, [bytes(bridge), bytes(channel), epoch, seq]);
    },
    async heard(bridge, channel) {
      const [row] = await ask<[at: Buffer]>(heard, [bytes(bridge), bytes(channel)]);
      return row?.[0].toString();
    },
    async setHeard(bridge, channel, at) {
      await ask(setHeard, [bridge, channel, at].map(bytes));
    },
    async cardFor({ id, bridge, channel, proposal, seq, expiresAt }) {
      const names = [id, bridge, channel, proposal].map(bytes);
      const [row] = await ask<CardRow>(cardFor, [...names, seq, expiresAt]);
      if (row === undefined) throw new Error("a card was stored and did not come back");
      return readCard(row);
    },
    card: async (id) => (await ask<CardRow>(card, [bytes(id)])).map(readCard)[0],
    openCards: async (bridge, channel) =>
      (await ask<CardRow>(openCards, [bytes(bridge), bytes(channel)])).map(readCard),
    async setRef(id, ref) {
      await ask(setRef, [bytes(id), bytes(ref)]);
    },
    claim: async (id, participant) => (await ask(claim, [bytes(id), bytes(participant)])).length > 0,
    async release(id) {
      await ask(release, [bytes(id)]);
    },
    async closeCard(id) {
      await ask(closeCard, [bytes(id)]);
    },
    async keepMessage({ bridge, channel, topic }, { message, ref, envelope, answers }) {
      const names = [bridge, channel, topic, message, ref, envelope].map(bytes);
      await ask(keepMessage, [...names, answers === undefined ? null : bytes(answers)]);
    },
    messageNamed: async ({ bridge, channel, topic }, message) =>
      (await ask<MessageRow>(messageNamed, [bridge, channel, topic, message].map(bytes))).map(readMessage)[0],
    messageOf: async ({ bridge, channel, topic }, envelope) =>
      (await ask<MessageRow>(messageOf, [bridge, channel, topic, envelope].map(bytes))).map(readMessage)[0],
    async forget(before) {
      await ask(forget, [before]);
    },
    async removeBridge(bridge) {
      await ask(removeBridge, [bytes(bridge)]);
    },
  };
}

function readLink([id, bridge, person, participant, level, at]: LinkRow): Link {
  return {
    id,
    bridge: bridge.toString(),
    user: person.toString(),
    participant: participant.toString(),
    level: isLevel(level) ? level : undefined,
    at,
  };
}

function readMessage([message, ref, envelope, answers]: MessageRow): KeptMessage {
  return {
    message: message.toString(),
    ref: ref.toString(),
    envelope: envelope.toString(),
    answers: answers?.toString(),
  };
}

function readCard(row: CardRow): Card {
  const [id, bridge, channel, proposal, seq, expiresAt, ref, claimedBy, isClosed] = row;
  return {
    id: id.toString(),
    bridge: bridge.toString(),
    channel: channel.toString(),
    proposal: proposal.toString(),
    seq,
    expiresAt,
    ref: ref?.toString(),
    claimedBy: claimedBy?.toString(),
    isClosed,
  };
}
