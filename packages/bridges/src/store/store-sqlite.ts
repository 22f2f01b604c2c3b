// In tables of a database that the command line has opened; other processes may change them meanwhile.
import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
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

/** Forward only: a change is a new entry at the end. */
export const bridgeMigrations: readonly { version: number; up: string }[] = [
  {
    version: 1,
    up: `
      CREATE TABLE bridge_codes (
        hash TEXT PRIMARY KEY, bridge TEXT NOT NULL, participant TEXT NOT NULL, level TEXT, expires_at INTEGER NOT NULL
      ) WITHOUT ROWID;
      CREATE TABLE bridge_links (
        bridge TEXT NOT NULL, user TEXT NOT NULL, id TEXT NOT NULL, participant TEXT NOT NULL, level TEXT,
        at INTEGER NOT NULL, PRIMARY KEY (bridge, user)
      ) WITHOUT ROWID;
      CREATE TABLE bridge_positions (
        bridge TEXT NOT NULL, channel TEXT NOT NULL, epoch TEXT NOT NULL, seq INTEGER NOT NULL,
        PRIMARY KEY (bridge, channel)
      ) WITHOUT ROWID;
      CREATE TABLE bridge_cards (
        id TEXT PRIMARY KEY, bridge TEXT NOT NULL, channel TEXT NOT NULL, proposal TEXT NOT NULL, seq INTEGER NOT NULL,
        expires_at INTEGER NOT NULL, ref TEXT, claimed_by TEXT, is_closed INTEGER NOT NULL DEFAULT 0,
        UNIQUE (bridge, channel, proposal)
      ) WITHOUT ROWID;
    `,
  },
  {
    version: 2,
    up: `
      CREATE TABLE push_key (id INTEGER PRIMARY KEY CHECK (id = 1), jwk TEXT NOT NULL);
      CREATE TABLE push_devices (
        endpoint TEXT PRIMARY KEY, p256dh TEXT NOT NULL, auth TEXT NOT NULL, name TEXT NOT NULL, at INTEGER NOT NULL
      ) WITHOUT ROWID;
    `,
  },
  {
    version: 3,
    up: `
      CREATE TABLE bridge_messages (
        at INTEGER PRIMARY KEY AUTOINCREMENT, bridge TEXT NOT NULL, channel TEXT NOT NULL, topic TEXT NOT NULL,
        message TEXT NOT NULL, ref TEXT NOT NULL, envelope TEXT NOT NULL, answers TEXT,
        UNIQUE (bridge, channel, topic, message)
      );
      CREATE INDEX bridge_messages_envelope ON bridge_messages (bridge, channel, topic, envelope);
      CREATE INDEX bridge_messages_at ON bridge_messages (bridge, channel, at);
    `,
  },
  {
    version: 4,
    up: `
      CREATE TABLE bridge_heard (
        bridge TEXT NOT NULL, channel TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (bridge, channel)
      ) WITHOUT ROWID;
    `,
  },
];

type Row = Record<string, SQLOutputValue>;

export function createSqliteStore(db: DatabaseSync): BridgeStore {
  const sql = {
    countCodes: db.prepare("SELECT count(*) AS n FROM bridge_codes WHERE bridge = ?"),
    addCode: db.prepare("INSERT INTO bridge_codes VALUES (?, ?, ?, ?, ?)"),
    dropCodes: db.prepare("DELETE FROM bridge_codes WHERE expires_at <= ?"),
    spend: db.prepare(
      "DELETE FROM bridge_codes WHERE hash = ? AND bridge = ? AND expires_at > ? RETURNING *",
    ),
    addLink: db.prepare("INSERT OR REPLACE INTO bridge_links VALUES (?, ?, ?, ?, ?, ?)"),
    link: db.prepare("SELECT * FROM bridge_links WHERE bridge = ? AND user = ?"),
    links: db.prepare("SELECT * FROM bridge_links WHERE bridge = ? ORDER BY participant, user"),
    unlink: db.prepare("DELETE FROM bridge_links WHERE bridge = ? AND user = ? RETURNING *"),
    position: db.prepare("SELECT epoch, seq FROM bridge_positions WHERE bridge = ? AND channel = ?"),
    setPosition: db.prepare("INSERT OR REPLACE INTO bridge_positions VALUES (?, ?, ?, ?)"),
    heard: db.prepare("SELECT at FROM bridge_heard WHERE bridge = ? AND channel = ?"),
    setHeard: db.prepare("INSERT OR REPLACE INTO bridge_heard VALUES (?, ?, ?)"),
    addCard: db.prepare(
      `INSERT INTO bridge_cards (id, bridge, channel, proposal, seq, expires_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (bridge, channel, proposal) DO NOTHING`,
    ),
    cardOf: db.prepare("SELECT * FROM bridge_cards WHERE bridge = ? AND channel = ? AND proposal = ?"),
    card: db.prepare("SELECT * FROM bridge_cards WHERE id = ?"),
    openCards: db.prepare(
      "SELECT * FROM bridge_cards WHERE bridge = ? AND channel = ? AND is_closed = 0 ORDER BY seq",
    ),
    setRef: db.prepare("UPDATE bridge_cards SET ref = ? WHERE id = ?"),
    claim: db.prepare(
      "UPDATE bridge_cards SET claimed_by = ? WHERE id = ? AND is_closed = 0 AND claimed_by IS NULL",
    ),
    release: db.prepare("UPDATE bridge_cards SET claimed_by = NULL WHERE id = ?"),
    closeCard: db.prepare("UPDATE bridge_cards SET is_closed = 1 WHERE id = ?"),
    keepMessage: db.prepare(
      `INSERT INTO bridge_messages (bridge, channel, topic, message, ref, envelope, answers)
       VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (bridge, channel, topic, message) DO NOTHING`,
    ),
    dropMessages: db.prepare(
      `DELETE FROM bridge_messages WHERE bridge = ?1 AND channel = ?2 AND at <=
       (SELECT at FROM bridge_messages WHERE bridge = ?1 AND channel = ?2 ORDER BY at DESC LIMIT 1 OFFSET ${messagesMax})`,
    ),
    messageNamed: db.prepare(
      "SELECT * FROM bridge_messages WHERE bridge = ? AND channel = ? AND topic = ? AND message = ?",
    ),
    messageOf: db.prepare(
      "SELECT * FROM bridge_messages WHERE bridge = ? AND channel = ? AND topic = ? AND envelope = ? ORDER BY at",
    ),
    dropCards: db.prepare("DELETE FROM bridge_cards WHERE expires_at < ?"),
  };
  const inTransaction = <T>(work: () => T): T => {
    db.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      db.exec("COMMIT");
      return result;
    } catch (error) {
      if (db.isTransaction) db.exec("ROLLBACK");
      throw error;
    }
  };
  return {
    addCode: async ({ hash, bridge, participant, level, expiresAt }, now) =>
      inTransaction(() => {
        sql.dropCodes.run(now);
        if (Number(sql.countCodes.get(bridge)?.n) >= codesMax) return false;
        sql.addCode.run(hash, bridge, participant, level ?? null, expiresAt);
        return true;
      }),
    redeem: async (bridge, hash, user, now) =>
      inTransaction(() => {
        const code = sql.spend.get(hash, bridge, now);
        if (code === undefined) return undefined;
        sql.addLink.run(bridge, user, newId(), code.participant as string, code.level as string | null, now);
        return readLink(sql.link.get(bridge, user));
      }),
    linkOf: async (bridge, user) => readLink(sql.link.get(bridge, user)),
    links: async (bridge) => sql.links.all(bridge).flatMap((row) => readLink(row) ?? []),
    unlink: async (bridge, user) => readLink(sql.unlink.get(bridge, user)),
    async position(bridge, channel) {
      const row = sql.position.get(bridge, channel);
      return row && { epoch: String(row.epoch), seq: Number(row.seq) };
    },
    async setPosition(bridge, channel, { epoch, seq }) {
      sql.setPosition.run(bridge, channel, epoch, seq);
    },
    async heard(bridge, channel) {
      const row = sql.heard.get(bridge, channel);
      return row && String(row.at);
    },
    async setHeard(bridge, channel, at) {
      sql.setHeard.run(bridge, channel, at);
    },
    async cardFor({ id, bridge, channel, proposal, seq, expiresAt }) {
      sql.addCard.run(id, bridge, channel, proposal, seq, expiresAt);
      return readCard(sql.cardOf.get(bridge, channel, proposal) as Row);
    },
    async card(id) {
      const row = sql.card.get(id);
      return row && readCard(row);
    },
    openCards: async (bridge, channel) => sql.openCards.all(bridge, channel).map(readCard),
    async setRef(id, ref) {
      sql.setRef.run(ref, id);
    },
    claim: async (id, participant) => sql.claim.run(participant, id).changes === 1,
    async release(id) {
      sql.release.run(id);
    },
    async closeCard(id) {
      sql.closeCard.run(id);
    },
    async keepMessage({ bridge, channel, topic }, { message, ref, envelope, answers }) {
      inTransaction(() => {
        sql.keepMessage.run(bridge, channel, topic, message, ref, envelope, answers ?? null);
        sql.dropMessages.run(bridge, channel);
      });
    },
    messageNamed: async ({ bridge, channel, topic }, message) =>
      readMessage(sql.messageNamed.get(bridge, channel, topic, message)),
    messageOf: async ({ bridge, channel, topic }, envelope) =>
      readMessage(sql.messageOf.get(bridge, channel, topic, envelope)),
    async forget(before) {
      sql.dropCards.run(before);
      sql.dropCodes.run(before);
    },
    async removeBridge(bridge) {
      inTransaction(() => {
        for (const table of ["codes", "links", "positions", "heard", "cards", "messages"])
          db.prepare(`DELETE FROM bridge_${table} WHERE bridge = ?`).run(bridge);
      });
    },
  };
}

function readLink(row: Row | undefined): Link | undefined {
  if (row === undefined) return undefined;
  const { id, bridge, user, participant, level, at } = row;
  return {
    id: String(id),
    bridge: String(bridge),
    user: String(user),
    participant: String(participant),
    level: isLevel(level) ? level : undefined,
    at: Number(at),
  };
}

function readMessage(row: Row | undefined): KeptMessage | undefined {
  if (row === undefined) return undefined;
  const { message, ref, envelope, answers } = row;
  return {
    message: String(message),
    ref: String(ref),
    envelope: String(envelope),
    answers: answers === null ? undefined : String(answers),
  };
}

function readCard(row: Row): Card {
  const { id, bridge, channel, proposal, seq, expires_at, ref, claimed_by, is_closed } = row;
  return {
    id: String(id),
    bridge: String(bridge),
    channel: String(channel),
    proposal: String(proposal),
    seq: Number(seq),
    expiresAt: Number(expires_at),
    ref: ref === null ? undefined : String(ref),
    claimedBy: claimed_by === null ? undefined : String(claimed_by),
    isClosed: is_closed === 1,
  };
}
