// Identity on PostgreSQL. Private keys and the root secret are sealed with a key that is not in the engine.
import { McpxError } from "@mcpx/protocol";
import { askPostgres } from "../postgres/ask-postgres.ts";
import { byteaArray, textArray } from "../postgres/binary-array.ts";
import type { Seal } from "../postgres/seal.ts";
import type { PostgresSession } from "../postgres/session.ts";
import type { IdentityStore, NewKey, PrivateKeyRow, PublicKeyRow } from "./identity-store.ts";

interface PostgresIdentityOptions {
  /** Of a store with the tables of `hostOnPostgres`; closed by the code that opened it. */
  session: PostgresSession;
  seal: Seal;
  /** Ms; monotonic. */
  now?: () => number;
}

/** Keys are asked for again after so long. */
const keysMs = 500;
/** Another process may always come between. */
const triesMax = 8;

const setting = {
  name: "settings-make",
  text: `
    WITH made AS (
      INSERT INTO host_settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING RETURNING value
    )
    SELECT value FROM made UNION ALL SELECT value FROM host_settings WHERE name = $1`,
};
const claimId = {
  name: "owners-claim",
  text: `
    WITH claimed AS (
      INSERT INTO id_owners (id, issuer) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING RETURNING issuer
    )
    SELECT issuer FROM claimed UNION ALL SELECT issuer FROM id_owners WHERE id = $1`,
};
const owner = { name: "owners-find", text: "SELECT 1 FROM id_owners WHERE id = $1" };
const forgetOwners = {
  name: "owners-forget",
  text: "DELETE FROM id_owners WHERE issuer <> ALL ($1::text[])",
};
const keys = {
  name: "keys-all",
  text: "SELECT kid, public_jwk, retired_at, last_exp FROM signing_keys",
};
const addKey = {
  name: "keys-add",
  text: `INSERT INTO signing_keys (kid, private_jwk, public_jwk, created_at) VALUES ($1, $2, $3, $4::bigint)
         ON CONFLICT ((1)) WHERE retired_at IS NULL DO NOTHING`,
};
const reserve = {
  name: "keys-reserve",
  text: `
    WITH used AS (
      UPDATE signing_keys SET last_exp = greatest(last_exp, $5::bigint) WHERE retired_at IS NULL
      RETURNING kid, private_jwk
    ), ended AS (
      DELETE FROM issued_tokens WHERE exp < $6::bigint
    ), issued AS (
      INSERT INTO issued_tokens (jti, sub, claims, iat, exp, kid)
      SELECT $1, ($2::bytea[])[1], $3, $4::bigint, $5::bigint, kid FROM used
    )
    SELECT kid, private_jwk FROM used`,
};
/** The private half of the old one is of no more use to us, only to a thief. */
const rotate = {
  name: "keys-rotate",
  text: `
    WITH retired AS (
      UPDATE signing_keys SET retired_at = $4::bigint, private_jwk = NULL WHERE retired_at IS NULL RETURNING kid
    ), gone AS (
      DELETE FROM signing_keys WHERE retired_at IS NOT NULL AND last_exp * 1000 <= $4::bigint
    )
    INSERT INTO signing_keys (kid, private_jwk, public_jwk, created_at)
    SELECT $1, $2, $3, $4::bigint FROM (SELECT count(*) FROM retired) AS first
    RETURNING (SELECT kid FROM retired)`,
};
const revokedSince = {
  name: "revoked-since",
  text: "SELECT number, jti, forget_at FROM revoked_tokens WHERE number > $1::bigint ORDER BY number",
};
/** Numbers come from one row, which is held until the commit: none becomes visible after a greater one. */
const revoke = {
  name: "revoked-add",
  text: `
    WITH known AS (
      SELECT revoked_at, forget_at FROM revoked_tokens WHERE jti = $1
    ), issued AS (
      SELECT exp * 1000 AS ends_at FROM issued_tokens WHERE jti = $1
    ), ended AS (
      DELETE FROM revoked_tokens WHERE forget_at <= $2::bigint AND jti <> $1
    ), numbered AS (
      UPDATE host_numbers SET value = value + 1
      WHERE name = 'revocations' AND NOT EXISTS (SELECT 1 FROM known) RETURNING value
    ), added AS (
      INSERT INTO revoked_tokens (number, jti, revoked_at, forget_at)
      SELECT value, $1, $2::bigint,
        coalesce((SELECT ends_at FROM issued), $2::bigint + $3::bigint) + $4::bigint FROM numbered
      ON CONFLICT (jti) DO NOTHING RETURNING revoked_at, forget_at
    )
    SELECT one.*, EXISTS (SELECT 1 FROM issued) FROM (TABLE known UNION ALL TABLE added) AS one`,
};
const listIssued = {
  name: "issued-list",
  text: `
    SELECT i.jti, i.sub, i.claims, i.iat, i.exp, i.kid, r.revoked_at
    FROM issued_tokens AS i LEFT JOIN revoked_tokens AS r USING (jti)
    ORDER BY i.iat DESC, i.jti LIMIT $1::bigint`,
};

export function createPostgresIdentityStore(options: PostgresIdentityOptions): IdentityStore {
  const { session } = options;
  return {
    ...createSettings(options),
    ...createOwners(session),
    ...createKeys(options),
    ...createRevoked(session),
  };
}

/** Nothing comes back where another process has come first since the statement began. */
async function untilSomething<Row>(ask: () => Promise<Row[]>): Promise<Row> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const [row] = await ask();
    if (row !== undefined) return row;
  }
  throw new McpxError("rate_limited", "other processes keep writing the same record", {
    retryAfterMs: 1_000,
  });
}

function createSettings({
  session,
  seal,
}: PostgresIdentityOptions): Pick<IdentityStore, "gatewayId" | "rootSecret"> {
  const made = async (name: string, value: string) =>
    (await untilSomething(() => askPostgres<[string]>(session, setting, [name, value])))[0];
  return {
    gatewayId: (make) => made("gateway_id", make()),
    rootSecret: async (make) => seal.open(await made("secret", seal.close(make(), "secret")), "secret"),
  };
}

function createOwners(
  session: PostgresSession,
): Pick<IdentityStore, "claimId" | "hasOwner" | "forgetOwners"> {
  return {
    async claimId(id, issuer) {
      const values = [Buffer.from(id), issuer];
      return (await untilSomething(() => askPostgres<[string]>(session, claimId, values)))[0] === issuer;
    },
    hasOwner: async (id) => (await askPostgres(session, owner, [Buffer.from(id)])).length > 0,
    async forgetOwners(configured) {
      await askPostgres(session, forgetOwners, [textArray(configured)]);
    },
  };
}

function createKeys(
  options: PostgresIdentityOptions,
): Pick<IdentityStore, "keys" | "needKey" | "reserve" | "rotate"> {
  const { session, seal, now = performance.now.bind(performance) } = options;
  let rows: readonly PublicKeyRow[] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  const place = (kid: string) => `signing key ${kid}`;

  async function read(): Promise<void> {
    const askedAt = now();
    type KeyRow = [kid: string, publicJwk: string, retiredAt: number | null, lastExp: number];
    const found = await askPostgres<KeyRow>(session, keys);
    rows = found.map(([kid, publicJwk, retiredAt, lastExp]) => ({
      ...{ kid, publicJwk, retiredAt: retiredAt ?? undefined, lastExp },
    }));
    readAt = askedAt;
  }

  async function add({ kid, privateJwk, publicJwk, createdAt }: NewKey): Promise<void> {
    await askPostgres(session, addKey, [kid, seal.close(privateJwk, place(kid)), publicJwk, createdAt]);
    readAt = Number.NEGATIVE_INFINITY;
  }

  return {
    async keys(isFresh = false) {
      if (!isFresh && now() - readAt < keysMs) return rows;
      // Many may ask at once, also for keys that nobody has.
      reading ??= read().finally(() => {
        reading = undefined;
      });
      await reading;
      return rows;
    },
    needKey: (make) => add(make()),
    async reserve({ jti, sub, claims, iat, exp, forgetBefore, owner: named }, make) {
      if (named !== undefined && !(await createOwners(session).claimId(named.id, named.issuer)))
        return undefined;
      const subject = byteaArray(sub === undefined ? [] : [Buffer.from(sub)]);
      const values = [Buffer.from(jti), subject, JSON.stringify(claims), iat, exp, forgetBefore];
      const [kid, privateJwk] = await untilSomething(async () => {
        const used = await askPostgres<[kid: string, privateJwk: string]>(session, reserve, values);
        if (used.length === 0) await add(make());
        return used;
      });
      return { kid, privateJwk: seal.open(privateJwk, place(kid)) } satisfies PrivateKeyRow;
    },
    async rotate({ kid, privateJwk, publicJwk, createdAt }) {
      const values = [kid, seal.close(privateJwk, place(kid)), publicJwk, createdAt];
      const [row] = await askPostgres<[string | null]>(session, rotate, values);
      readAt = Number.NEGATIVE_INFINITY;
      return row?.[0] ?? undefined;
    },
  };
}

function createRevoked(
  session: PostgresSession,
): Pick<IdentityStore, "revokedSince" | "revoke" | "listIssued"> {
  return {
    async revokedSince(number) {
      const rows = await askPostgres<[number, Buffer, number]>(session, revokedSince, [number]);
      return rows.map(([at, jti, forgetAt]) => ({ number: at, jti: jti.toString(), forgetAt }));
    },
    async revoke({ jti, now, lifeMs, spareMs }) {
      type RevokedRow = [revokedAt: number, forgetAt: number, known: boolean];
      const values = [Buffer.from(jti), now, lifeMs, spareMs];
      const [revokedAt, forgetAt, known] = await untilSomething(() =>
        askPostgres<RevokedRow>(session, revoke, values),
      );
      return { revokedAt, forgetAt, known };
    },
    async listIssued(limit) {
      type IssuedRow = [
        jti: Buffer,
        sub: Buffer | null,
        claims: string,
        iat: number,
        exp: number,
        kid: string,
        revokedAt: number | null,
      ];
      const rows = await askPostgres<IssuedRow>(session, listIssued, [limit]);
      return rows.map(([jti, sub, claims, iat, exp, kid, revokedAt]) => ({
        jti: jti.toString(),
        sub: sub?.toString(),
        claims: JSON.parse(claims),
        ...{ issuedAt: iat * 1_000, expiresAt: exp * 1_000, revokedAt: revokedAt ?? undefined, kid },
      }));
    },
  };
}
