// On disk: `node:sqlite`, every use in one transaction that is durable before the tool runs.
import { DatabaseSync } from "node:sqlite";
import {
  type AccessStore,
  type AccessStoreBounds,
  defaultBounds,
  type GrantRecord,
  type LiveGrant,
  type Spending,
  type SpendOutcome,
} from "../guard/access-store.ts";

const schema = `
  CREATE TABLE IF NOT EXISTS nonces (nonce TEXT PRIMARY KEY, until_ms INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS capabilities (
    id TEXT PRIMARY KEY, uses INTEGER NOT NULL, is_revoked INTEGER NOT NULL, until_ms INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS grants (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, until_ms INTEGER NOT NULL, body TEXT NOT NULL);
  CREATE INDEX IF NOT EXISTS nonces_by_end ON nonces (until_ms);
  CREATE INDEX IF NOT EXISTS capabilities_by_end ON capabilities (until_ms);
`;

const sweepMs = 60_000;

/**
 * Opens or makes a store in a file. Several guards may share one file.
 * @example createGuard({ key, store: createSqliteAccessStore("access.db") });
 */
export function createSqliteAccessStore(path: string, bounds: Partial<AccessStoreBounds> = {}): AccessStore {
  const { noncesMax, grantsMax } = { ...defaultBounds, ...bounds };
  const db = new DatabaseSync(path);
  db.exec("PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  db.exec(schema);
  const find = db.prepare("SELECT uses, is_revoked FROM capabilities WHERE id = ?");
  const findNonce = db.prepare("SELECT until_ms FROM nonces WHERE nonce = ?");
  const putNonce = db.prepare("INSERT OR REPLACE INTO nonces (nonce, until_ms) VALUES (?, ?)");
  const put = db.prepare(`
    INSERT INTO capabilities (id, uses, is_revoked, until_ms) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
      uses = uses + excluded.uses, is_revoked = max(is_revoked, excluded.is_revoked),
      until_ms = max(until_ms, excluded.until_ms)`);
  const findGrant = db.prepare("SELECT 1 FROM grants WHERE id = ?");
  const putGrant = db.prepare("INSERT INTO grants (id, until_ms, body) VALUES (?, ?, ?)");
  const listGrants = db.prepare(`
    SELECT body, coalesce(uses, 0) AS uses, coalesce(is_revoked, 0) AS is_revoked
    FROM grants LEFT JOIN capabilities USING (id) WHERE grants.until_ms > ? ORDER BY n`);
  const forget = ["nonces", "capabilities", "grants"].map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE until_ms <= ?`),
  );
  const count = (table: "nonces" | "grants") =>
    Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n);
  // Counted once and kept in mind: other guards of the file are seen at the next sweep.
  let nonceCount = count("nonces");
  let sweptAtMs = 0;

  function inTransaction<T>(work: () => T): T {
    db.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      db.exec("COMMIT");
      return result;
    } catch (error) {
      if (db.isTransaction) db.exec("ROLLBACK");
      throw error;
    }
  }

  function sweep(nowMs: number): void {
    for (const statement of forget) statement.run(nowMs);
    nonceCount = count("nonces");
    sweptAtMs = nowMs;
  }

  function spendNow({ nonce, nonceUntilMs, capabilities }: Spending, nowMs: number): SpendOutcome {
    if (nonceCount >= noncesMax || nowMs - sweptAtMs > sweepMs) sweep(nowMs);
    if (findGrant.get(capabilities.at(-1)?.id ?? "") === undefined) return "unknown";
    const known = capabilities.map(({ id }) => find.get(id));
    if (known.some((row) => row?.is_revoked === 1)) return "revoked";
    if (Number(findNonce.get(nonce)?.until_ms ?? 0) > nowMs) return "replayed";
    const isUsedUp = capabilities.some(
      ({ maxUses }, at) => maxUses !== undefined && Number(known[at]?.uses ?? 0) >= maxUses,
    );
    if (isUsedUp) return "uses_exhausted";
    if (nonceCount >= noncesMax) return "full";
    putNonce.run(nonce, nonceUntilMs);
    nonceCount += 1;
    for (const { id, untilMs } of capabilities) put.run(id, 1, 0, untilMs);
    return "spent";
  }

  return {
    spend: async (spending, nowMs) => inTransaction(() => spendNow(spending, nowMs)),
    async revoke(capabilities) {
      inTransaction(() => {
        for (const { id, untilMs } of capabilities) put.run(id, 0, 1, untilMs);
      });
    },
    remember: async (grant, nowMs) =>
      inTransaction(() => {
        if (count("grants") >= grantsMax) sweep(nowMs);
        if (count("grants") >= grantsMax) return false;
        putGrant.run(grant.id, grant.untilMs, JSON.stringify(grant));
        return true;
      }),
    grants: async (nowMs) =>
      listGrants.all(nowMs).map(({ body, uses, is_revoked }): LiveGrant => {
        const grant: GrantRecord = JSON.parse(String(body));
        return { ...grant, uses: Number(uses), isRevoked: is_revoked === 1 };
      }),
    async close() {
      db.close();
    },
  };
}
