// Identity in `state.db`. Whether another process has written costs one PRAGMA, no table read.
import type { DatabaseSync } from "node:sqlite";
import { dataVersion, immediately } from "../sqlite/transaction.ts";
import type { IdentityStore, NewKey, PrivateKeyRow, PublicKeyRow } from "./identity-store.ts";

/** The database has the host's tables, and is closed by the code that opened it. */
export function createSqliteIdentityStore(db: DatabaseSync): IdentityStore {
  return { ...createSettings(db), ...createOwners(db), ...createKeys(db), ...createRevoked(db) };
}

function createSettings(db: DatabaseSync): Pick<IdentityStore, "gatewayId" | "rootSecret"> {
  const setting = (name: string, make: () => string) => {
    const read = db.prepare("SELECT value FROM host_settings WHERE name = ?");
    const known = read.get(name);
    if (known !== undefined) return String(known.value);
    db.prepare("INSERT INTO host_settings (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING").run(
      name,
      make(),
    );
    return String(read.get(name)?.value);
  };
  return {
    gatewayId: async (make) => setting("gateway_id", make),
    rootSecret: async (make) => setting("secret", make),
  };
}

function createOwners(db: DatabaseSync): Pick<IdentityStore, "claimId" | "hasOwner" | "forgetOwners"> {
  return {
    claimId: async (id, issuer) => {
      const owner = ownerOf(db, id);
      return owner === undefined ? immediately(db, () => claim(db, id, issuer)) : owner === issuer;
    },
    hasOwner: async (id) => ownerOf(db, id) !== undefined,
    async forgetOwners(configured) {
      db.prepare("DELETE FROM id_owners WHERE issuer NOT IN (SELECT value FROM json_each(?))").run(
        JSON.stringify(configured),
      );
    },
  };
}

function claim(db: DatabaseSync, id: string, issuer: string): boolean {
  db.prepare("INSERT INTO id_owners (id, issuer) VALUES (?, ?) ON CONFLICT DO NOTHING").run(id, issuer);
  return ownerOf(db, id) === issuer;
}

function ownerOf(db: DatabaseSync, id: string): string | undefined {
  const row = db.prepare("SELECT issuer FROM id_owners WHERE id = ?").get(id);
  return row === undefined ? undefined : String(row.issuer);
}

function createKeys(db: DatabaseSync): Pick<IdentityStore, "keys" | "needKey" | "reserve" | "rotate"> {
  let rows: readonly PublicKeyRow[] = [];
  let seenVersion = -1;
  /** Own writes do not change the data version. */
  const changing = <T>(work: () => T): T => {
    seenVersion = -1;
    return immediately(db, work);
  };
  return {
    async keys() {
      const version = dataVersion(db);
      if (version !== seenVersion) rows = readKeys(db);
      seenVersion = version;
      return rows;
    },
    async needKey(make) {
      if (activeKey(db) === undefined) changing(() => activeKey(db) ?? addKey(db, make()));
    },
    reserve: async ({ jti, sub, claims, iat, exp, forgetBefore, owner }, make) =>
      changing(() => {
        if (owner !== undefined && !claim(db, owner.id, owner.issuer)) return undefined;
        const key = activeKey(db) ?? addKey(db, make());
        db.prepare("UPDATE signing_keys SET last_exp = max(last_exp, ?) WHERE kid = ?").run(exp, key.kid);
        db.prepare("DELETE FROM issued_tokens WHERE exp < ?").run(forgetBefore);
        db.prepare(
          "INSERT INTO issued_tokens (jti, sub, claims, iat, exp, kid) VALUES (?, ?, ?, ?, ?, ?)",
        ).run(jti, sub ?? null, JSON.stringify(claims), iat, exp, key.kid);
        return key;
      }),
    rotate: async (key) =>
      changing(() => {
        const retired = activeKey(db)?.kid;
        // The private half is of no more use to us, only to a thief.
        db.prepare("UPDATE signing_keys SET retired_at = ?, private_jwk = NULL WHERE retired_at IS NULL").run(
          key.createdAt,
        );
        db.prepare("DELETE FROM signing_keys WHERE retired_at IS NOT NULL AND last_exp * 1000 <= ?").run(
          key.createdAt,
        );
        addKey(db, key);
        return retired;
      }),
  };
}

function readKeys(db: DatabaseSync): PublicKeyRow[] {
  const rows = db.prepare("SELECT kid, public_jwk, retired_at, last_exp FROM signing_keys").all();
  return rows.map(({ kid, public_jwk, retired_at, last_exp }) => ({
    kid: String(kid),
    publicJwk: String(public_jwk),
    retiredAt: retired_at === null ? undefined : Number(retired_at),
    lastExp: Number(last_exp),
  }));
}

function activeKey(db: DatabaseSync): PrivateKeyRow | undefined {
  const row = db.prepare("SELECT kid, private_jwk FROM signing_keys WHERE retired_at IS NULL").get();
  return row && { kid: String(row.kid), privateJwk: String(row.private_jwk) };
}

function addKey(db: DatabaseSync, key: NewKey): PrivateKeyRow {
  const { kid, privateJwk, publicJwk, createdAt } = key;
  db.prepare("INSERT INTO signing_keys (kid, private_jwk, public_jwk, created_at) VALUES (?, ?, ?, ?)").run(
    kid,
    privateJwk,
    publicJwk,
    createdAt,
  );
  return { kid, privateJwk };
}

function createRevoked(db: DatabaseSync): Pick<IdentityStore, "revokedSince" | "revoke" | "listIssued"> {
  let seenVersion = -1;
  return {
    revokedSince(number) {
      const version = dataVersion(db);
      if (version === seenVersion) return [];
      const rows = db
        .prepare("SELECT number, jti, forget_at FROM revoked_tokens WHERE number > ? ORDER BY number")
        .all(number);
      seenVersion = version;
      return rows.map((row) => ({
        number: Number(row.number),
        jti: String(row.jti),
        forgetAt: Number(row.forget_at),
      }));
    },
    async revoke({ jti, now, lifeMs, spareMs }) {
      const issued = db.prepare("SELECT exp FROM issued_tokens WHERE jti = ?").get(jti);
      const forgetAt = (issued === undefined ? now + lifeMs : Number(issued.exp) * 1_000) + spareMs;
      const row = immediately(db, () => {
        db.prepare("DELETE FROM revoked_tokens WHERE forget_at <= ?").run(now);
        db.prepare(
          "INSERT INTO revoked_tokens (jti, revoked_at, forget_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        ).run(jti, now, forgetAt);
        return db.prepare("SELECT revoked_at, forget_at FROM revoked_tokens WHERE jti = ?").get(jti);
      });
      // Own writes do not change the data version.
      seenVersion = -1;
      const known = issued !== undefined;
      return { revokedAt: Number(row?.revoked_at), forgetAt: Number(row?.forget_at), known };
    },
    async listIssued(limit) {
      const rows = db
        .prepare(
          `SELECT jti, sub, claims, iat, exp, kid, revoked_at FROM issued_tokens
           LEFT JOIN revoked_tokens USING (jti) ORDER BY iat DESC, jti LIMIT ?`,
        )
        .all(limit);
      return rows.map((row) => ({
        jti: String(row.jti),
        sub: row.sub === null ? undefined : String(row.sub),
        claims: JSON.parse(String(row.claims)),
        issuedAt: Number(row.iat) * 1_000,
        expiresAt: Number(row.exp) * 1_000,
        revokedAt: row.revoked_at === null ? undefined : Number(row.revoked_at),
        kid: String(row.kid),
      }));
    },
  };
}
