// Credentials on PostgreSQL, sealed with a key that is not there. Turns are rows with a time of the engine's clock: a
// gateway that dies in its turn keeps the others waiting no longer than that.
import { createHash, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { askPostgres, type PostgresSession, type Seal } from "@mcpx/host";
import { isObject, McpxError } from "@mcpx/protocol";
import { asCredential, type Credential, type CredentialStore } from "./credential-store.ts";

/** Keys hold names that strangers choose: rows have their hashes. */
export const credentialsOnPostgres = `
  CREATE TABLE oauth_credentials (key_hash bytea PRIMARY KEY, sealed text NOT NULL);
  CREATE TABLE oauth_turns (key_hash bytea PRIMARY KEY, holder text NOT NULL, until timestamptz NOT NULL);
`;

const read = { name: "credentials-read", text: "SELECT sealed FROM oauth_credentials WHERE key_hash = $1" };
const all = { name: "credentials-all", text: "SELECT key_hash, sealed FROM oauth_credentials" };
const write = {
  name: "credentials-write",
  text: `INSERT INTO oauth_credentials VALUES ($1, $2)
         ON CONFLICT (key_hash) DO UPDATE SET sealed = excluded.sealed`,
};
const remove = { name: "credentials-remove", text: "DELETE FROM oauth_credentials WHERE key_hash = $1" };
const take = {
  name: "credentials-take-turn",
  text: `INSERT INTO oauth_turns AS old VALUES ($1, $2, clock_timestamp() + $3::bigint * interval '1 ms')
         ON CONFLICT (key_hash) DO UPDATE SET holder = excluded.holder, until = excluded.until
         WHERE old.until <= clock_timestamp() RETURNING 1`,
};
const giveBack = {
  name: "credentials-end-turn",
  text: "DELETE FROM oauth_turns WHERE key_hash = $1 AND holder = $2",
};

/** Longer than an authorization server is waited for. */
const turnMs = 120_000;
const askAgainMs = 100;

interface PostgresCredentialStoreOptions {
  /** Of a store with the tables of `treeOnPostgres`; closed by the code that opened it. */
  session: PostgresSession;
  seal: Seal;
  /** How long a turn lasts at most; `turnMs` unless given. */
  turnMs?: number;
}

export function createPostgresCredentialStore(options: PostgresCredentialStoreOptions): CredentialStore {
  const { session, seal, turnMs: lastsMs = turnMs } = options;
  const open = (hash: Buffer, sealed: string) => openSealed(seal, hash, sealed);

  async function readOne(key: string): Promise<Credential | undefined> {
    const [row] = await askPostgres<[sealed: string]>(session, read, [hashOf(key)]);
    const kept = row && open(hashOf(key), row[0]);
    return kept?.key === key ? kept.credential : undefined;
  }

  return {
    read: readOne,
    async write(key, credential) {
      const hash = hashOf(key);
      if (credential === undefined) await askPostgres(session, remove, [hash]);
      else
        await askPostgres(session, write, [
          hash,
          seal.close(JSON.stringify({ key, credential }), placeOf(hash)),
        ]);
    },
    async entries() {
      const rows = await askPostgres<[hash: Buffer, sealed: string]>(session, all);
      return rows.flatMap(([hash, sealed]): [string, Credential][] => {
        const kept = open(hash, sealed);
        return kept !== undefined && hashOf(kept.key).equals(hash) ? [[kept.key, kept.credential]] : [];
      });
    },
    async inTurn(key, work) {
      const [hash, holder] = [hashOf(key), randomUUID()];
      const lateAt = performance.now() + 2 * lastsMs;
      while ((await askPostgres(session, take, [hash, holder, lastsMs])).length === 0) {
        if (performance.now() > lateAt)
          throw new McpxError("rate_limited", "other processes keep renewing the same credentials", {
            retryAfterMs: 1_000,
          });
        await pause(askAgainMs);
      }
      try {
        return await work(await readOne(key));
      } finally {
        // If this fails, the lock expires by itself.
        await askPostgres(session, giveBack, [hash, holder]).catch(() => {});
      }
    },
  };
}

/** What was sealed with another key is an error of the operator; what is no credential has to be got anew. */
function openSealed(
  seal: Seal,
  hash: Buffer,
  sealed: string,
): { key: string; credential: Credential } | undefined {
  const kept: unknown = JSON.parse(seal.open(sealed, placeOf(hash)));
  if (!isObject(kept) || typeof kept.key !== "string") return undefined;
  const credential = asCredential(kept.credential);
  return credential && { key: kept.key, credential };
}

function placeOf(hash: Buffer): string {
  return `oauth_credentials ${hash.toString("hex")}`;
}

function hashOf(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}
