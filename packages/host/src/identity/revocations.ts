// Tokens that were issued, and those that no longer count. Revoking is durable first and announced after; what
// another process revokes is seen within a second.
import type { DatabaseSync } from "node:sqlite";
import { type JsonObject, McpxError } from "@mcpx/protocol";
import type { Clock } from "../clock.ts";
import type { Logger } from "../logging/log.ts";
import { dataVersion, immediately } from "../sqlite/transaction.ts";

export interface IssuedToken {
  jti: string;
  sub: string | undefined;
  /** Topics, level and the like: what was granted, never the token. */
  claims: JsonObject;
  /** Ms since 1970, as the two below. */
  issuedAt: number;
  expiresAt: number;
  revokedAt: number | undefined;
  kid: string;
}

export interface Revocations {
  /** Durable before it returns. `known`: the token was issued here; other issuers' can be revoked too. */
  revoke(jti: string): { jti: string; revokedAt: number; known: boolean };
  /** Throws `identity_unavailable` where the store cannot say: an unreadable list is no permission. */
  isRevoked(jti: string): boolean;
  /** Calls back once for each revocation, wherever it was made; returns the way to stop. */
  onRevoked(listener: (jti: string) => void): () => void;
  /** Newest first. */
  list(options: { limit: number }): IssuedToken[];
  close(): void;
}

export interface RevocationsOptions {
  db: DatabaseSync;
  clock: Clock;
  log: Logger;
  ttlMsMax: number;
}

/** Half of the promised second, so that a late timer still keeps it. */
const pollMs = 500;
/** A clock that was set far ahead, and back again, must not bring a revoked token back to life. */
const clockStepMsMax = 30 * 86_400_000;

export function createRevocations({ db, clock, log, ttlMsMax }: RevocationsOptions): Revocations {
  const revoked = new Map<string, number>();
  const listeners = new Set<(jti: string) => void>();
  let seenNumber = 0;
  let seenVersion = -1;
  let readAt = Number.NEGATIVE_INFINITY;

  function readNew(): void {
    const version = dataVersion(db);
    if (version !== seenVersion) {
      const rows = db
        .prepare("SELECT number, jti, forget_at FROM revoked_tokens WHERE number > ? ORDER BY number")
        .all(seenNumber) as { number: number; jti: string; forget_at: number }[];
      for (const { number, jti, forget_at } of rows) {
        seenNumber = number;
        if (forget_at > clock.now()) add(jti, forget_at);
      }
      seenVersion = version;
    }
    readAt = clock.monotonic();
  }

  function add(jti: string, forgetAt: number): void {
    revoked.set(jti, forgetAt);
    for (const listener of listeners) {
      try {
        listener(jti);
      } catch (error) {
        log.error({ err: error, jti }, "revocation listener failed");
      }
    }
  }

  readNew();
  const timer = setInterval(() => {
    try {
      readNew();
    } catch (error) {
      log.error({ err: error }, "could not read revocations");
    }
  }, pollMs).unref();

  return {
    revoke(jti) {
      const now = clock.now();
      const stored = storeRevocation(db, jti, now, ttlMsMax);
      for (const [old, at] of revoked) if (at <= now) revoked.delete(old);
      // Own writes do not change the data version.
      seenVersion = -1;
      readNew();
      return stored;
    },
    isRevoked(jti) {
      try {
        if (clock.monotonic() - readAt > 2 * pollMs) readNew();
      } catch (cause) {
        throw new McpxError("identity_unavailable", "the list of revoked tokens cannot be read", { cause });
      }
      return revoked.has(jti);
    },
    onRevoked(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    list: ({ limit }) => listIssued(db, limit),
    close: () => clearInterval(timer),
  };
}

function storeRevocation(
  db: DatabaseSync,
  jti: string,
  now: number,
  ttlMsMax: number,
): ReturnType<Revocations["revoke"]> {
  const issued = db.prepare("SELECT exp FROM issued_tokens WHERE jti = ?").get(jti);
  // Kept as long as any token with this name can live.
  const endsAt = issued === undefined ? now + ttlMsMax : Number(issued.exp) * 1_000;
  const forgetAt = endsAt + clockStepMsMax;
  const row = immediately(db, () => {
    db.prepare("DELETE FROM revoked_tokens WHERE forget_at <= ?").run(now);
    db.prepare(
      "INSERT INTO revoked_tokens (jti, revoked_at, forget_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
    ).run(jti, now, forgetAt);
    return db.prepare("SELECT revoked_at FROM revoked_tokens WHERE jti = ?").get(jti);
  });
  return { jti, revokedAt: Number(row?.revoked_at), known: issued !== undefined };
}

function listIssued(db: DatabaseSync, limit: number): IssuedToken[] {
  const rows = db
    .prepare(
      `SELECT jti, sub, claims, iat, exp, kid, revoked_at FROM issued_tokens LEFT JOIN revoked_tokens USING (jti)
       ORDER BY iat DESC, jti LIMIT ?`,
    )
    .all(limit);
  return rows.map((row) => ({
    jti: String(row.jti),
    sub: row.sub === null ? undefined : String(row.sub),
    claims: JSON.parse(String(row.claims)) as JsonObject,
    issuedAt: Number(row.iat) * 1_000,
    expiresAt: Number(row.exp) * 1_000,
    revokedAt: row.revoked_at === null ? undefined : Number(row.revoked_at),
    kid: String(row.kid),
  }));
}
