// The PostgreSQL that a configuration or `store.json` names, as commands and the gateway reach it: its address, its key,
// and whose state is in it.
import { randomUUID } from "node:crypto";
import type { PostgresAddress } from "@mcpx/host";
import { isMcpxError } from "@mcpx/protocol";
import { Failure } from "../framework/failure.ts";
import { fillIn } from "./fill-in.ts";
import { type Home, isInFiles, readStatePlace, type StoreWish, writeStatePlace } from "./state-place.ts";
import { keyFile, makeStoreKey, readStoreKey } from "./store-key.ts";

/** An address and a key that can be used now. */
export interface KnownStore {
  url: string;
  key: Buffer;
  /** For people: without the password. */
  shown: string;
}

/** As written, with its references filled in. Throws what is wrong with it, never what is secret in it. */
export async function readStoreAddress(
  { env }: Pick<Home, "env">,
  { address, dir }: Pick<StoreWish, "address" | "dir">,
): Promise<{ url: string; parts: PostgresAddress }> {
  const { readPostgresAddress } = await import("@mcpx/host");
  try {
    const url = fillIn(address, { dir, env });
    return { url, parts: readPostgresAddress(url) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const fix = isMcpxError(error) ? error.suggestion : undefined;
    throw new Failure(`store: ${message}`, fix, { cause: error });
  }
}

export async function showStore({ user, hosts, database, schema }: PostgresAddress): Promise<string> {
  const { showPostgresHost } = await import("@mcpx/host");
  const places = hosts.map(showPostgresHost).join(",");
  return `postgres://${user}@${places}/${database}?schema=${schema}`;
}

/** The store of a directory that has one: what a command opens. */
export async function knownStore(home: Home): Promise<KnownStore | undefined> {
  const place = readStatePlace(home.dataDir);
  if (place === undefined) return undefined;
  const { url, parts } = await readStoreAddress(home, place);
  const shown = await showStore(parts);
  const key = readStoreKey(home, place);
  if (key === undefined) throw noKey(home.dataDir, shown);
  return { url, key, shown };
}

/**
 * For who starts a gateway: the store that the configuration names, written down for all commands. `undefined` where
 * state is in files. Refused where that would part the directory from the state it has.
 */
export async function settleStore(home: Home, wish: StoreWish | undefined): Promise<KnownStore | undefined> {
  const { dataDir } = home;
  const place = readStatePlace(dataDir);
  if (wish === undefined) {
    if (place === undefined) return undefined;
    const shown = await showStore((await readStoreAddress(home, place)).parts);
    throw new Failure(
      `the state of ${dataDir} is in ${shown}, and the configuration names no store`,
      'write "store" into mcpx.json again, or bring the state back with mcpx migrate --from postgres --to sqlite',
    );
  }
  const { url, parts } = await readStoreAddress(home, wish);
  const shown = await showStore(parts);
  if (isInFiles(dataDir)) {
    throw new Failure(
      `the state of ${dataDir} is in its state.db, and the configuration names ${shown}`,
      "move it with mcpx migrate --from sqlite --to postgres, or choose another directory with --data DIR",
    );
  }
  const { key, gatewayId } = await claimStore(home, wish, { url, shown });
  if (place !== undefined && place.gatewayId !== gatewayId) {
    throw new Failure(
      `${shown} has the state of another gateway than ${dataDir} had`,
      "correct store in mcpx.json, or choose another directory with --data DIR",
    );
  }
  writeStatePlace(dataDir, { ...wish, gatewayId });
  return { url, key, shown };
}

/** Opens it once: makes its tables, and a key where nothing was sealed in it yet. Throws where the key is another. */
async function claimStore(
  home: Home,
  wish: StoreWish,
  { url, shown }: Pick<KnownStore, "url" | "shown">,
): Promise<{ key: Buffer; gatewayId: string }> {
  const host = await import("@mcpx/host");
  const address = host.readPostgresAddress(url);
  await host.migratePostgres(address, host.hostOnPostgres);
  const session = await host.openPostgresSession(address);
  try {
    const isNew = !(await host.hasIdentity(session));
    const key = readStoreKey(home, wish) ?? (isNew ? makeStoreKey(home, wish) : undefined);
    if (key === undefined) throw noKey(home.dataDir, shown);
    const store = host.createPostgresIdentityStore({ session, seal: host.createSeal(key) });
    await store.rootSecret(host.newRootSecret).catch((error: unknown) => {
      throw isMcpxError(error) ? error : wrongKey(shown, error);
    });
    return { key, gatewayId: await store.gatewayId(randomUUID) };
  } finally {
    await session.close();
  }
}

function noKey(dataDir: string, shown: string): Failure {
  return new Failure(
    `the secrets in ${shown} are sealed, and there is no ${keyFile} in ${dataDir}`,
    `copy ${keyFile} from the directory of the gateway that made the store, or name it as storeKey in mcpx.json`,
  );
}

function wrongKey(shown: string, cause: unknown): Failure {
  return new Failure(
    `the secrets in ${shown} were sealed with another key than this one`,
    `use the ${keyFile} of the gateway that made the store, or another schema (?schema=NAME)`,
    { cause },
  );
}
