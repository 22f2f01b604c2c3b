// In a browser's IndexedDB: one transaction for each use, which the browser runs one after the other, also for several
// pages of one origin.
import {
  type AccessStore,
  type AccessStoreBounds,
  defaultBounds,
  type GrantRecord,
  type Spending,
  type SpendOutcome,
} from "./access-store.ts";

/** As much of IndexedDB as is needed here; the platform's types are not part of this library's. */
interface Request<T> {
  result: T;
  error: unknown;
  onsuccess: (() => void) | null;
  onerror: (() => void) | null;
}
interface Table {
  get(key: string): Request<unknown>;
  getAll(): Request<unknown[]>;
  put(value: object): Request<unknown>;
  count(): Request<number>;
  index(name: string): { openCursor(range: unknown): Request<Cursor | null> };
  createIndex(name: string, path: string): unknown;
}
interface Cursor {
  delete(): Request<unknown>;
  continue(): void;
}
interface Transaction {
  objectStore(name: string): Table;
  error: unknown;
  oncomplete: (() => void) | null;
  onabort: (() => void) | null;
}
interface Database {
  transaction(tables: readonly string[], mode: string, options: { durability: string }): Transaction;
  createObjectStore(name: string, options: { keyPath: string }): Table;
  close(): void;
}
interface Platform {
  indexedDB: {
    open(name: string, version: number): Request<Database> & { onupgradeneeded: (() => void) | null };
  };
  IDBKeyRange: { upperBound(value: number): unknown };
}

interface Counted {
  id: string;
  uses: number;
  isRevoked: boolean;
  untilMs: number;
}

const tables = ["nonces", "capabilities", "grants"] as const;
const platform = globalThis as unknown as Platform;

/** @example createGuard({ key, store: await createIndexedDbAccessStore("oven") }); */
export async function createIndexedDbAccessStore(
  name: string,
  bounds: Partial<AccessStoreBounds> = {},
): Promise<AccessStore> {
  const { noncesMax, grantsMax } = { ...defaultBounds, ...bounds };
  const opening = platform.indexedDB.open(name, 1);
  opening.onupgradeneeded = () => {
    for (const table of tables) {
      opening.result
        .createObjectStore(table, { keyPath: table === "nonces" ? "nonce" : "id" })
        .createIndex("untilMs", "untilMs");
    }
  };
  const db = await resultOf(opening);

  /** Everything in it or nothing, and on disk when it resolves. */
  async function inTransaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const transaction = db.transaction(tables, "readwrite", { durability: "strict" });
    const done = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error);
    });
    const [result] = await Promise.all([work(transaction), done]);
    return result;
  }

  async function spendIn(transaction: Transaction, spending: Spending, nowMs: number): Promise<SpendOutcome> {
    const { nonce, nonceUntilMs, capabilities } = spending;
    const nonces = transaction.objectStore("nonces");
    const counts = transaction.objectStore("capabilities");
    const root = await resultOf(transaction.objectStore("grants").get(capabilities.at(-1)?.id ?? ""));
    if (root === undefined) return "unknown";
    const known = await Promise.all(
      capabilities.map(({ id }) => resultOf(counts.get(id)) as Promise<Counted>),
    );
    if (known.some((one) => one?.isRevoked)) return "revoked";
    const seen = (await resultOf(nonces.get(nonce))) as { untilMs: number } | undefined;
    if ((seen?.untilMs ?? 0) > nowMs) return "replayed";
    const isUsedUp = ({ maxUses }: { maxUses: number | undefined }, at: number) =>
      maxUses !== undefined && (known[at]?.uses ?? 0) >= maxUses;
    if (capabilities.some(isUsedUp)) return "uses_exhausted";
    if (!(await hasSpace(transaction, "nonces", noncesMax, nowMs))) return "full";
    nonces.put({ nonce, untilMs: nonceUntilMs });
    capabilities.forEach(({ id, untilMs }, at) => {
      counts.put({ id, untilMs, isRevoked: false, uses: (known[at]?.uses ?? 0) + 1 });
    });
    return "spent";
  }

  return {
    spend: (spending, nowMs) => inTransaction((transaction) => spendIn(transaction, spending, nowMs)),
    revoke: (capabilities) =>
      inTransaction(async (transaction) => {
        const counts = transaction.objectStore("capabilities");
        for (const { id, untilMs } of capabilities) {
          const known = (await resultOf(counts.get(id))) as Counted | undefined;
          counts.put({ uses: 0, ...known, id, untilMs, isRevoked: true });
        }
      }),
    remember: (grant, nowMs) =>
      inTransaction(async (transaction) => {
        if (!(await hasSpace(transaction, "grants", grantsMax, nowMs))) return false;
        transaction.objectStore("grants").put(grant);
        return true;
      }),
    grants: (nowMs) =>
      inTransaction(async (transaction) => {
        const grants = (await resultOf(transaction.objectStore("grants").getAll())) as GrantRecord[];
        const counted = (await resultOf(transaction.objectStore("capabilities").getAll())) as Counted[];
        const counts = new Map(counted.map((one) => [one.id, one]));
        return grants
          .filter(({ untilMs }) => untilMs > nowMs)
          .sort((a, b) => a.issuedAtMs - b.issuedAtMs || (a.id < b.id ? -1 : 1))
          .map((grant) => {
            const { uses = 0, isRevoked = false } = counts.get(grant.id) ?? {};
            return { ...grant, uses, isRevoked };
          });
      }),
    async close() {
      db.close();
    },
  };
}

/** Forgets what is over where the table is full, and says whether that helped. */
async function hasSpace(
  transaction: Transaction,
  name: (typeof tables)[number],
  max: number,
  nowMs: number,
): Promise<boolean> {
  if ((await resultOf(transaction.objectStore(name).count())) < max) return true;
  for (const table of tables) await forget(transaction.objectStore(table), nowMs);
  return (await resultOf(transaction.objectStore(name).count())) < max;
}

function forget(table: Table, nowMs: number): Promise<void> {
  const request = table.index("untilMs").openCursor(platform.IDBKeyRange.upperBound(nowMs));
  return new Promise((resolve, reject) => {
    request.onerror = () => reject(request.error);
    request.onsuccess = () => {
      if (request.result === null) return resolve();
      request.result.delete();
      request.result.continue();
    };
  });
}

function resultOf<T>(request: Request<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
