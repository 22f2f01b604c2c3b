// The store of the authorization server in `state.db`.
import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { immediately, type Migration } from "@mcpx/host";
import type { JsonObject } from "@mcpx/protocol";
import { type AuthorizationStore, bounds, type Consent, type StoredArtifact } from "./authorization-store.ts";
import { consentBody, readConsent, tooMany } from "./consent-rows.ts";

/** Forward only: a change is a new entry at the end. */
export const authorizationMigrations: readonly Migration[] = [
  {
    version: 1,
    up: `
      CREATE TABLE oauth_artifacts (
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        payload TEXT NOT NULL,
        consent TEXT,
        uid TEXT,
        expires_at INTEGER NOT NULL,
        consumed_at INTEGER,
        PRIMARY KEY (kind, key)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX oauth_artifacts_by_end ON oauth_artifacts (kind, expires_at);
      CREATE INDEX oauth_artifacts_by_consent ON oauth_artifacts (consent) WHERE consent IS NOT NULL;
      CREATE INDEX oauth_artifacts_by_uid ON oauth_artifacts (kind, uid) WHERE uid IS NOT NULL;

      CREATE TABLE oauth_consents (
        id TEXT PRIMARY KEY,
        body TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        expires_at INTEGER NOT NULL,
        used_at INTEGER
      ) STRICT, WITHOUT ROWID;

      CREATE TABLE oauth_consent_tokens (
        jti TEXT PRIMARY KEY,
        consent TEXT NOT NULL,
        expires_at INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX oauth_consent_tokens_by_consent ON oauth_consent_tokens (consent);
    `,
  },
];

type Row = Record<string, SQLOutputValue>;

function prepare(db: DatabaseSync) {
  return {
    put: db.prepare(
      `INSERT INTO oauth_artifacts (kind, key, payload, consent, uid, expires_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (kind, key) DO UPDATE SET payload = excluded.payload, consent = excluded.consent,
         uid = excluded.uid, expires_at = excluded.expires_at`,
    ),
    dropPastKind: db.prepare(
      `DELETE FROM oauth_artifacts WHERE kind = ?1 AND key IN (
         SELECT key FROM oauth_artifacts WHERE kind = ?1 AND key <> ?2 ORDER BY expires_at DESC LIMIT -1 OFFSET ?3)`,
    ),
    dropPastConsent: db.prepare(
      `DELETE FROM oauth_artifacts WHERE kind = ?1 AND key IN (
         SELECT key FROM oauth_artifacts WHERE consent = ?4 AND kind = ?1 AND key <> ?2
         ORDER BY consumed_at IS NOT NULL, consumed_at DESC LIMIT -1 OFFSET ?3)`,
    ),
    find: db.prepare("SELECT * FROM oauth_artifacts WHERE kind = ? AND key = ? AND expires_at > ?"),
    findByUid: db.prepare("SELECT * FROM oauth_artifacts WHERE kind = ? AND uid = ? AND expires_at > ?"),
    consume: db.prepare(
      "UPDATE oauth_artifacts SET consumed_at = ? WHERE kind = ? AND key = ? AND consumed_at IS NULL",
    ),
    rename: db.prepare("UPDATE oauth_artifacts SET key = ? WHERE kind = ? AND key = ?"),
    prolong: db.prepare(
      "UPDATE oauth_artifacts SET expires_at = max(expires_at, ?) WHERE kind = ? AND key = ?",
    ),
    remove: db.prepare("DELETE FROM oauth_artifacts WHERE kind = ? AND key = ?"),
    removeOf: db.prepare("DELETE FROM oauth_artifacts WHERE consent = ?"),
    addConsent: db.prepare(
      "INSERT INTO oauth_consents (id, body, created_at, expires_at) VALUES (?, ?, ?, ?)",
    ),
    countConsents: db.prepare("SELECT count(*) AS n FROM oauth_consents"),
    consent: db.prepare("SELECT * FROM oauth_consents WHERE id = ? AND expires_at > ?"),
    consents: db.prepare("SELECT * FROM oauth_consents WHERE expires_at > ? ORDER BY created_at DESC, id"),
    endConsent: db.prepare("DELETE FROM oauth_consents WHERE id = ?"),
    used: db.prepare("UPDATE oauth_consents SET used_at = ? WHERE id = ?"),
    addToken: db.prepare("INSERT INTO oauth_consent_tokens (jti, consent, expires_at) VALUES (?, ?, ?)"),
    tokensOf: db.prepare("SELECT jti FROM oauth_consent_tokens WHERE consent = ? AND expires_at > ?"),
    takeTokens: db.prepare("DELETE FROM oauth_consent_tokens WHERE consent = ? RETURNING jti"),
    consentOfToken: db.prepare("SELECT consent FROM oauth_consent_tokens WHERE jti = ?"),
  };
}

/** What has ended is of use to nobody. */
const dropEnded = ["oauth_artifacts", "oauth_consents", "oauth_consent_tokens"];

export function createSqliteAuthorizationStore(
  db: DatabaseSync,
  limits: { [name in keyof typeof bounds]: number } = bounds,
): AuthorizationStore {
  const sql = prepare(db);
  const sweep = dropEnded.map((table) => db.prepare(`DELETE FROM ${table} WHERE expires_at <= ?`));
  return {
    async put({ kind, key, payload, consent = null, uid = null, expiresAt }) {
      immediately(db, () => {
        sql.put.run(kind, key, JSON.stringify(payload), consent, uid, expiresAt);
        sql.dropPastKind.run(kind, key, limits.perKindMax - 1);
        if (consent !== null) sql.dropPastConsent.run(kind, key, limits.perConsentMax - 1, consent);
      });
    },
    find: async (kind, key, now) => artifactOf(sql.find.get(kind, key, now)),
    findByUid: async (kind, uid, now) => artifactOf(sql.findByUid.get(kind, uid, now)),
    consume: async (kind, key, now) => Number(sql.consume.run(now, kind, key).changes) === 1,
    async rename(kind, key, to) {
      sql.rename.run(to, kind, key);
    },
    async prolong(kind, key, expiresAt) {
      sql.prolong.run(expiresAt, kind, key);
    },
    async remove(kind, key) {
      sql.remove.run(kind, key);
    },
    async removeOf(consent) {
      sql.removeOf.run(consent);
    },
    async addConsent(consent) {
      const { id, createdAt, expiresAt } = consent;
      immediately(db, () => {
        for (const statement of sweep) statement.run(createdAt);
        if (Number(sql.countConsents.get()?.n) >= limits.consentsMax) throw tooMany(limits.consentsMax);
        sql.addConsent.run(id, consentBody(consent), createdAt, expiresAt);
      });
    },
    consent: async (id, now) => consentOf(sql.consent.get(id, now)),
    consents: async (now) => sql.consents.all(now).flatMap((row) => consentOf(row) ?? []),
    async endConsent(id) {
      return immediately(db, () => {
        sql.removeOf.run(id);
        const jtis = sql.takeTokens.all(id).map(({ jti }) => String(jti));
        return Number(sql.endConsent.run(id).changes) === 0 ? undefined : jtis;
      });
    },
    async addToken({ jti, consent, expiresAt }, now) {
      return immediately(db, () => {
        for (const statement of sweep) statement.run(now);
        if (Number(sql.used.run(now, consent).changes) === 0) return false;
        sql.addToken.run(jti, consent, expiresAt);
        return true;
      });
    },
    tokensOf: async (consent, now) => sql.tokensOf.all(consent, now).map(({ jti }) => String(jti)),
    async consentOfToken(jti) {
      const row = sql.consentOfToken.get(jti);
      return row === undefined ? undefined : String(row.consent);
    },
  };
}

function artifactOf(row: Row | undefined): StoredArtifact | undefined {
  if (row === undefined) return undefined;
  return {
    kind: String(row.kind),
    key: String(row.key),
    payload: JSON.parse(String(row.payload)) as JsonObject,
    consent: row.consent === null ? undefined : String(row.consent),
    uid: row.uid === null ? undefined : String(row.uid),
    expiresAt: Number(row.expires_at),
    consumedAt: row.consumed_at === null ? undefined : Number(row.consumed_at),
  };
}

function consentOf(row: Row | undefined): Consent | undefined {
  if (row === undefined) return undefined;
  const { id, body, created_at, expires_at, used_at } = row;
  const usedAt = used_at === null ? null : Number(used_at);
  return readConsent([String(id), String(body), Number(created_at), Number(expires_at), usedAt]);
}
