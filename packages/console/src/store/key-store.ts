// Where this browser keeps its key: in its own database, as an object whose private part nobody can read.
import type { BrowserKey } from "./proofs.ts";

const store = "keys";

export async function loadKey(): Promise<BrowserKey | undefined> {
  return (await request((keys) => keys.get("gates"), "readonly")) as BrowserKey | undefined;
}

export async function saveKey(key: BrowserKey): Promise<void> {
  await request((keys) => keys.put(key, "gates"), "readwrite");
}

async function request(
  ask: (keys: IDBObjectStore) => IDBRequest,
  mode: IDBTransactionMode,
): Promise<unknown> {
  const opening = indexedDB.open("mcpx-console", 1);
  opening.onupgradeneeded = () => void opening.result.createObjectStore(store);
  const db = (await done(opening)) as IDBDatabase;
  try {
    return await done(ask(db.transaction(store, mode).objectStore(store)));
  } finally {
    db.close();
  }
}

function done(asked: IDBRequest): Promise<unknown> {
  return new Promise((resolve, reject) => {
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error ?? new Error("the browser's database cannot be used"));
  });
}
