// The store of the authorization server on PostgreSQL. Payloads are sealed: interactions hold what a person was asked
// for, clients may hold a secret. Each verb is one statement.
import { askPostgres, type PostgresComponent, type PostgresSession, type Seal } from "@mcpx/host";
import type { JsonObject } from "@mcpx/protocol";
import { type AuthorizationStore, bounds, type StoredArtifact } from "./authorization-store.ts";
import { type ConsentRow, consentBody, readConsent, tooMany } from "./consent-rows.ts";

/** Keys are hashes of what clients hold already; those a client may choose are of any characters, and so bytes. */
const tables = `
  CREATE TABLE oauth_artifacts (
    kind text NOT NULL,
    key bytea NOT NULL,
    sealed text NOT NULL,
    consent text,
    uid bytea,
    expires_at bigint NOT NULL,
    consumed_at bigint,
    PRIMARY KEY (kind, key)
  );
  CREATE INDEX oauth_artifacts_by_end ON oauth_artifacts (kind, expires_at);
  CREATE INDEX oauth_artifacts_by_consent ON oauth_artifacts (consent) WHERE consent IS NOT NULL;
  CREATE INDEX oauth_artifacts_by_uid ON oauth_artifacts (kind, uid) WHERE uid IS NOT NULL;
  CREATE TABLE oauth_consents (
    id text PRIMARY KEY,
    body text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    used_at bigint,
    is_ending boolean NOT NULL DEFAULT false
  );
  CREATE TABLE oauth_consent_tokens (jti text PRIMARY KEY, consent text NOT NULL, expires_at bigint NOT NULL);
  CREATE INDEX oauth_consent_tokens_by_consent ON oauth_consent_tokens (consent);
`;

export const authorizationOnPostgres: PostgresComponent = {
  component: "authorization",
  migrations: [{ version: 1, up: tables }],
};

const put = {
  name: "oauth-put",
  text: `
    WITH put AS (
      INSERT INTO oauth_artifacts (kind, key, sealed, consent, uid, expires_at)
      VALUES ($1, $2, $3, $4, $5::bytea, $6::bigint)
      ON CONFLICT (kind, key) DO UPDATE SET sealed = excluded.sealed, consent = excluded.consent,
        uid = excluded.uid, expires_at = excluded.expires_at
    ), past_kind AS (
      DELETE FROM oauth_artifacts WHERE kind = $1 AND key IN (
        SELECT key FROM oauth_artifacts WHERE kind = $1 AND key <> $2 ORDER BY expires_at DESC OFFSET $7::bigint)
    )
    DELETE FROM oauth_artifacts WHERE kind = $1 AND key IN (
      SELECT key FROM oauth_artifacts WHERE consent = $4 AND kind = $1 AND key <> $2
      ORDER BY consumed_at IS NOT NULL, consumed_at DESC OFFSET $8::bigint)`,
};

const columns = "kind, key, sealed, consent, uid, expires_at, consumed_at";
const find = {
  name: "oauth-find",
  text: `SELECT ${columns} FROM oauth_artifacts WHERE kind = $1 AND key = $2 AND expires_at > $3::bigint`,
};
const findByUid = {
  name: "oauth-find-by-uid",
  text: `SELECT ${columns} FROM oauth_artifacts WHERE kind = $1 AND uid = $2 AND expires_at > $3::bigint`,
};
const consume = {
  name: "oauth-consume",
  text: `UPDATE oauth_artifacts SET consumed_at = $3::bigint
         WHERE kind = $1 AND key = $2 AND consumed_at IS NULL RETURNING 1`,
};
const rename = {
  name: "oauth-rename",
  text: "UPDATE oauth_artifacts SET key = $3, sealed = $4 WHERE kind = $1 AND key = $2 AND sealed = $5",
};
const prolong = {
  name: "oauth-prolong",
  text: `UPDATE oauth_artifacts SET expires_at = greatest(expires_at, $3::bigint) WHERE kind = $1 AND key = $2`,
};
const remove = { name: "oauth-remove", text: "DELETE FROM oauth_artifacts WHERE kind = $1 AND key = $2" };
const removeOf = { name: "oauth-remove-of", text: "DELETE FROM oauth_artifacts WHERE consent = $1" };

/** What has ended is of use to nobody. */
const dropEnded = (now: string) => `
  ended_artifacts AS (DELETE FROM oauth_artifacts WHERE expires_at <= ${now}),
  ended_consents AS (DELETE FROM oauth_consents WHERE expires_at <= ${now}),
  ended_tokens AS (DELETE FROM oauth_consent_tokens WHERE expires_at <= ${now})`;

const addConsent = {
  name: "oauth-add-consent",
  text: `
    WITH ${dropEnded("$3::bigint")}
    INSERT INTO oauth_consents (id, body, created_at, expires_at) SELECT $1, $2, $3::bigint, $4::bigint
    WHERE (SELECT count(*) FROM oauth_consents WHERE expires_at > $3::bigint) < $5::bigint RETURNING 1`,
};
const consentColumns = "id, body, created_at, expires_at, used_at";
const consent = {
  name: "oauth-consent",
  text: `SELECT ${consentColumns} FROM oauth_consents WHERE id = $1 AND expires_at > $2::bigint`,
};
const consents = {
  name: "oauth-consents",
  text: `SELECT ${consentColumns} FROM oauth_consents WHERE expires_at > $1::bigint
         ORDER BY created_at DESC, id COLLATE "C"`,
};
/** First no token is added any more, and one that is being added is there: then all of them are seen. */
const beginEnd = {
  name: "oauth-begin-end",
  text: "UPDATE oauth_consents SET is_ending = true WHERE id = $1",
};
const end = {
  name: "oauth-end",
  text: `
    WITH consent AS (DELETE FROM oauth_consents WHERE id = $1 RETURNING 1),
      artifacts AS (DELETE FROM oauth_artifacts WHERE consent = $1),
      tokens AS (DELETE FROM oauth_consent_tokens WHERE consent = $1 RETURNING jti)
    SELECT EXISTS (SELECT 1 FROM consent), (SELECT array_agg(jti) FROM tokens)`,
};
const addToken = {
  name: "oauth-add-token",
  text: `
    WITH ${dropEnded("$4::bigint")}, used AS (
      UPDATE oauth_consents SET used_at = $4::bigint
      WHERE id = $2 AND expires_at > $4::bigint AND NOT is_ending RETURNING 1
    )
    INSERT INTO oauth_consent_tokens SELECT $1, $2, $3::bigint FROM used RETURNING 1`,
};
const tokensOf = {
  name: "oauth-tokens-of",
  text: "SELECT jti FROM oauth_consent_tokens WHERE consent = $1 AND expires_at > $2::bigint",
};
const consentOfToken = {
  name: "oauth-consent-of-token",
  text: "SELECT consent FROM oauth_consent_tokens WHERE jti = $1",
};

type ArtifactRow = [
  kind: string,
  key: Buffer,
  sealed: string,
  consent: string | null,
  uid: Buffer | null,
  expiresAt: number,
  consumedAt: number | null,
];

interface PostgresAuthorizationStoreOptions {
  /** Of a store with the tables of `authorizationOnPostgres`; closed by the code that opened it. */
  session: PostgresSession;
  seal: Seal;
  limits?: { [name in keyof typeof bounds]: number };
}

export function createPostgresAuthorizationStore(
  options: PostgresAuthorizationStoreOptions,
): AuthorizationStore {
  return { ...createArtifacts(options), ...createConsents(options) };
}

type ArtifactVerbs = "put" | "find" | "findByUid" | "consume" | "rename" | "prolong" | "remove" | "removeOf";

function createArtifacts({
  session,
  seal,
  limits = bounds,
}: PostgresAuthorizationStoreOptions): Pick<AuthorizationStore, ArtifactVerbs> {
  const artifactOf = ([
    kind,
    key,
    sealed,
    consent,
    uid,
    expiresAt,
    consumedAt,
  ]: ArtifactRow): StoredArtifact => ({
    kind,
    key: key.toString(),
    payload: JSON.parse(seal.open(sealed, placeOf(kind, key.toString()))) as JsonObject,
    consent: consent ?? undefined,
    uid: uid?.toString(),
    expiresAt,
    consumedAt: consumedAt ?? undefined,
  });
  return {
    async put({ kind, key, payload, consent, uid, expiresAt }) {
      await askPostgres(session, put, [
        ...[kind, bytes(key), seal.close(JSON.stringify(payload), placeOf(kind, key)), consent ?? null],
        ...[
          uid === undefined ? null : bytes(uid),
          expiresAt,
          limits.perKindMax - 1,
          limits.perConsentMax - 1,
        ],
      ]);
    },
    async find(kind, key, now) {
      const [row] = await askPostgres<ArtifactRow>(session, find, [kind, bytes(key), now]);
      return row && artifactOf(row);
    },
    async findByUid(kind, uid, now) {
      const [row] = await askPostgres<ArtifactRow>(session, findByUid, [kind, bytes(uid), now]);
      return row && artifactOf(row);
    },
    consume: async (kind, key, now) =>
      (await askPostgres(session, consume, [kind, bytes(key), now])).length > 0,
    async rename(kind, key, to) {
      const [row] = await askPostgres<ArtifactRow>(session, find, [
        kind,
        bytes(key),
        Number.MIN_SAFE_INTEGER,
      ]);
      if (row === undefined) return;
      // The seal is bound to the row, so a moved value is sealed again.
      const sealed = seal.close(seal.open(row[2], placeOf(kind, key)), placeOf(kind, to));
      await askPostgres(session, rename, [kind, bytes(key), bytes(to), sealed, row[2]]);
    },
    async prolong(kind, key, expiresAt) {
      await askPostgres(session, prolong, [kind, bytes(key), expiresAt]);
    },
    async remove(kind, key) {
      await askPostgres(session, remove, [kind, bytes(key)]);
    },
    async removeOf(consent) {
      await askPostgres(session, removeOf, [consent]);
    },
  };
}

function createConsents({
  session,
  limits = bounds,
}: PostgresAuthorizationStoreOptions): Omit<AuthorizationStore, ArtifactVerbs> {
  return {
    async addConsent(added) {
      const { id, createdAt, expiresAt } = added;
      const values = [id, consentBody(added), createdAt, expiresAt, limits.consentsMax];
      if ((await askPostgres(session, addConsent, values)).length === 0) throw tooMany(limits.consentsMax);
    },
    async consent(id, now) {
      const [row] = await askPostgres<ConsentRow>(session, consent, [id, now]);
      return row && readConsent(row);
    },
    consents: async (now) => (await askPostgres<ConsentRow>(session, consents, [now])).map(readConsent),
    async endConsent(id) {
      await askPostgres(session, beginEnd, [id]);
      const [row] = await askPostgres<[wasThere: boolean, jtis: string[] | null]>(session, end, [id]);
      return row?.[0] === true ? (row[1] ?? []) : undefined;
    },
    addToken: async ({ jti, consent, expiresAt }, now) =>
      (await askPostgres(session, addToken, [jti, consent, expiresAt, now])).length > 0,
    tokensOf: async (consent, now) =>
      (await askPostgres<[jti: string]>(session, tokensOf, [consent, now])).map(([jti]) => jti),
    consentOfToken: async (jti) =>
      (await askPostgres<[consent: string]>(session, consentOfToken, [jti]))[0]?.[0],
  };
}

function placeOf(kind: string, key: string): string {
  return `oauth_artifacts ${kind} ${key}`;
}

function bytes(text: string): Buffer {
  return Buffer.from(text);
}
