// A key that lives in this browser: its private part is in IndexedDB and cannot be read by anybody, nor leave it.
import type { AccessKey } from "@mcpx/protocol";
import { keyFromPair } from "./create-key.ts";

/** As much of IndexedDB as is needed here; the platform's types are not part of this library's. */
interface Request {
  result: unknown;
  error: unknown;
  onsuccess: (() => void) | null;
  onerror: (() => void) | null;
}
interface Table {
  get(key: string): Request;
  add(value: unknown, key: string): Request;
}
interface Database {
  createObjectStore(name: string): unknown;
  transaction(name: string, mode: string): { objectStore(name: string): Table };
  close(): void;
}
interface Platform {
  indexedDB: { open(name: string, version: number): Request & { onupgradeneeded: (() => void) | null } };
}

type Pair = Parameters<typeof keyFromPair>[0];

const table = "keys";

/**
 * The key of this name, made where there is none: the same one for every page of this origin.
 * @example const room = await joinRoom({ url, topic, token, sign: await browserKey("alice") });
 */
export async function browserKey(name: string): Promise<AccessKey> {
  const opening = (globalThis as unknown as Platform).indexedDB.open("mcpx-signing-keys", 1);
  opening.onupgradeneeded = () => void (opening.result as Database).createObjectStore(table);
  const db = (await done(opening)) as Database;
  try {
    const find = () => done(db.transaction(table, "readonly").objectStore(table).get(name));
    const known = await find();
    if (known !== undefined) return await keyFromPair(known as Pair);
    const made = await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
    // Another page may have been faster: the one that is there counts.
    await done(db.transaction(table, "readwrite").objectStore(table).add(made, name)).catch(() => undefined);
    return await keyFromPair((await find()) as Pair);
  } finally {
    db.close();
  }
}

function done(request: Request): Promise<unknown> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("the browser's database cannot be used"));
  });
}
