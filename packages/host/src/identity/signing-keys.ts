// The gateway's Ed25519 keys in `state.db`. Another process may mint or rotate at any time, so the database is
// asked whenever it matters, and memory is only a cache of public keys.
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
} from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { Clock } from "../clock.ts";
import { dataVersion, immediately } from "../sqlite/transaction.ts";

/** A public key as `/.well-known/jwks.json` shows it. */
interface PublishedJwk {
  kty: string;
  crv: string;
  x: string;
  kid: string;
  alg: "EdDSA";
  use: "sig";
}

export interface SigningKeys {
  /**
   * Hands over the active key for a token that ends at `exp` (s). `record` runs in the same transaction, so a
   * token is never signed by a key that forgot it.
   */
  reserve(exp: number, record: (kid: string) => void): { kid: string; key: KeyObject };
  /** Starts a new key; the old one verifies until the last token it signed has ended. */
  rotate(): { kid: string; retired: string | undefined };
  find(kid: string): KeyObject | undefined;
  jwks(): { keys: PublishedJwk[] };
}

interface KeyRow {
  kid: string;
  public_jwk: string;
  retired_at: number | null;
  last_exp: number;
}

export function createSigningKeys({ db, clock }: { db: DatabaseSync; clock: Clock }): SigningKeys {
  let cache = new Map<string, { row: KeyRow; key: KeyObject }>();
  let seenVersion = -1;

  function load(): void {
    const version = dataVersion(db);
    if (version === seenVersion) return;
    const rows = db.prepare("SELECT kid, public_jwk, retired_at, last_exp FROM signing_keys").all();
    cache = new Map(
      (rows as unknown as KeyRow[]).map((row) => [
        row.kid,
        { row, key: createPublicKey({ key: JSON.parse(row.public_jwk), format: "jwk" }) },
      ]),
    );
    seenVersion = version;
  }

  function isAlive({ retired_at, last_exp }: KeyRow): boolean {
    return retired_at === null || last_exp * 1_000 > clock.now();
  }

  return {
    reserve: (exp, record) =>
      immediately(db, () => {
        const { kid, private_jwk } = activeKey(db) ?? createKey(db, clock.now());
        db.prepare("UPDATE signing_keys SET last_exp = max(last_exp, ?) WHERE kid = ?").run(exp, kid);
        record(kid);
        seenVersion = -1;
        return { kid, key: createPrivateKey({ key: JSON.parse(private_jwk), format: "jwk" }) };
      }),
    rotate: () =>
      immediately(db, () => {
        const retired = activeKey(db)?.kid;
        // The private half is of no more use to us, only to a thief.
        db.prepare("UPDATE signing_keys SET retired_at = ?, private_jwk = NULL WHERE retired_at IS NULL").run(
          clock.now(),
        );
        db.prepare("DELETE FROM signing_keys WHERE retired_at IS NOT NULL AND last_exp * 1000 <= ?").run(
          clock.now(),
        );
        seenVersion = -1;
        return { kid: createKey(db, clock.now()).kid, retired };
      }),
    find(kid) {
      // One PRAGMA: a stranger's made-up kids cost no table read unless somebody really wrote.
      load();
      const known = cache.get(kid);
      return known !== undefined && isAlive(known.row) ? known.key : undefined;
    },
    jwks() {
      if (activeKey(db) === undefined) {
        immediately(db, () => activeKey(db) ?? createKey(db, clock.now()));
        seenVersion = -1;
      }
      load();
      const alive = [...cache.values()].filter(({ row }) => isAlive(row));
      return {
        keys: alive.map(({ row }) => {
          const { kty, crv, x } = JSON.parse(row.public_jwk) as Pick<PublishedJwk, "kty" | "crv" | "x">;
          return { kty, crv, x, kid: row.kid, alg: "EdDSA", use: "sig" };
        }),
      };
    },
  };
}

interface PrivateRow {
  kid: string;
  private_jwk: string;
}

function activeKey(db: DatabaseSync): PrivateRow | undefined {
  return db.prepare("SELECT kid, private_jwk FROM signing_keys WHERE retired_at IS NULL").get() as
    | PrivateRow
    | undefined;
}

function createKey(db: DatabaseSync, now: number): PrivateRow {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const kid = randomUUID();
  const private_jwk = JSON.stringify(privateKey.export({ format: "jwk" }));
  const public_jwk = JSON.stringify(publicKey.export({ format: "jwk" }));
  db.prepare("INSERT INTO signing_keys (kid, private_jwk, public_jwk, created_at) VALUES (?, ?, ?, ?)").run(
    kid,
    private_jwk,
    public_jwk,
    now,
  );
  return { kid, private_jwk };
}
