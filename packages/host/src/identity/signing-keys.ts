// The gateway's Ed25519 keys. Another process may mint or rotate at any time, so the store is asked whenever it matters,
// and memory is only a cache of public keys.
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
} from "node:crypto";
import type { Clock } from "../clock.ts";
import type { IdentityStore, NewKey, NewToken, PublicKeyRow } from "./identity-store.ts";

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
  /** The key to sign this token with, which is remembered now. `undefined` where its id is another issuer's. */
  reserve(token: NewToken): Promise<{ kid: string; key: KeyObject } | undefined>;
  /** Starts a new key; the old one verifies until the last token it signed has ended. */
  rotate(): Promise<{ kid: string; retired: string | undefined }>;
  find(kid: string): Promise<KeyObject | undefined>;
  jwks(): Promise<{ keys: PublishedJwk[] }>;
}

export interface SigningKeysOptions {
  store: Pick<IdentityStore, "keys" | "needKey" | "reserve" | "rotate">;
  clock: Clock;
}

export function createSigningKeys({ store, clock }: SigningKeysOptions): SigningKeys {
  let seen: readonly PublicKeyRow[] = [];
  let cache = new Map<string, { row: PublicKeyRow; key: KeyObject }>();
  const make = () => makeKey(clock.now());

  async function load(isFresh?: boolean): Promise<typeof cache> {
    const rows = await store.keys(isFresh);
    if (rows !== seen) {
      const parsed = rows.map((row): [string, { row: PublicKeyRow; key: KeyObject }] => [
        row.kid,
        { row, key: createPublicKey({ key: JSON.parse(row.publicJwk), format: "jwk" }) },
      ]);
      cache = new Map(parsed);
      seen = rows;
    }
    return cache;
  }

  function isAlive({ retiredAt, lastExp }: PublicKeyRow): boolean {
    return retiredAt === undefined || lastExp * 1_000 > clock.now();
  }

  return {
    async reserve(token) {
      const reserved = await store.reserve(token, make);
      if (reserved === undefined) return undefined;
      const { kid, privateJwk } = reserved;
      return { kid, key: createPrivateKey({ key: JSON.parse(privateJwk), format: "jwk" }) };
    },
    async rotate() {
      const key = make();
      return { kid: key.kid, retired: await store.rotate(key) };
    },
    async find(kid) {
      // Another process may have made it a moment ago.
      const known = (await load()).get(kid) ?? (await load(true)).get(kid);
      return known !== undefined && isAlive(known.row) ? known.key : undefined;
    },
    async jwks() {
      const isThere = (rows: typeof cache) =>
        [...rows.values()].some(({ row }) => row.retiredAt === undefined);
      if (!isThere(await load(true))) await store.needKey(make);
      const alive = [...(await load(true)).values()].filter(({ row }) => isAlive(row));
      return {
        keys: alive.map(({ row }) => {
          const { kty, crv, x } = JSON.parse(row.publicJwk) as Pick<PublishedJwk, "kty" | "crv" | "x">;
          return { kty, crv, x, kid: row.kid, alg: "EdDSA", use: "sig" };
        }),
      };
    },
  };
}

function makeKey(createdAt: number): NewKey {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return {
    kid: randomUUID(),
    privateJwk: JSON.stringify(privateKey.export({ format: "jwk" })),
    publicJwk: JSON.stringify(publicKey.export({ format: "jwk" })),
    createdAt,
  };
}
