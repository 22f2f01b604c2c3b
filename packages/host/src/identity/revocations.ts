// Tokens that no longer count. Revoking is durable first and announced after; what another process revokes is seen
// within a second.
import { McpxError } from "@mcpx/protocol";
import type { Clock } from "../clock.ts";
import type { Logger } from "../logging/log.ts";
import type { IdentityStore, IssuedToken, RevokedRow } from "./identity-store.ts";

export interface Revocations {
  /** Durable before it resolves. `known`: the token was issued here; other issuers' can be revoked too. */
  revoke(jti: string): Promise<{ jti: string; revokedAt: number; known: boolean }>;
  /** Throws `identity_unavailable` where the store cannot say: an unreadable list is no permission. */
  isRevoked(jti: string): boolean;
  /** Calls back once for each revocation, wherever it was made; returns the way to stop. */
  onRevoked(listener: (jti: string) => void): () => void;
  /** Newest first. */
  list(options: { limit: number }): Promise<IssuedToken[]>;
  close(): void;
}

export interface RevocationsOptions {
  store: Pick<IdentityStore, "revokedSince" | "revoke" | "listIssued">;
  clock: Clock;
  log: Logger;
  ttlMsMax: number;
}

/** Half of the promised second, so that a late timer still keeps it. */
const pollMs = 500;
/** A clock that was set far ahead, and back again, must not bring a revoked token back to life. */
const clockStepMsMax = 30 * 86_400_000;

export async function createRevocations(options: RevocationsOptions): Promise<Revocations> {
  const { store, clock, log, ttlMsMax } = options;
  const revoked = new Map<string, number>();
  const listeners = new Set<(jti: string) => void>();
  let seenNumber = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  /** Since when the store was asked without an answer. */
  let askedAt: number | undefined;
  let reading: Promise<void> | undefined;

  function take(rows: readonly RevokedRow[]): void {
    for (const { number, jti, forgetAt } of rows) {
      seenNumber = number;
      if (forgetAt > clock.now()) add(jti, forgetAt);
    }
    readAt = clock.monotonic();
    askedAt = undefined;
  }

  /** Where the store answers at once, it is read when this returns. */
  function readNew(): Promise<void> | undefined {
    if (reading !== undefined) return reading;
    askedAt ??= clock.monotonic();
    const rows = store.revokedSince(seenNumber);
    if (!(rows instanceof Promise)) {
      take(rows);
      return undefined;
    }
    reading = rows.then(take).finally(() => {
      reading = undefined;
    });
    return reading;
  }

  function add(jti: string, forgetAt: number): void {
    const isNew = !revoked.has(jti);
    revoked.set(jti, forgetAt);
    for (const listener of isNew ? listeners : []) {
      try {
        listener(jti);
      } catch (error) {
        log.error({ err: error, jti }, "revocation listener failed");
      }
    }
  }

  async function poll(): Promise<void> {
    try {
      await readNew();
    } catch (error) {
      log.error({ err: error }, "could not read revocations");
    }
  }

  await readNew();
  const timer = setInterval(poll, pollMs).unref();

  return {
    async revoke(jti) {
      const now = clock.now();
      const wish = { jti, now, lifeMs: ttlMsMax, spareMs: clockStepMsMax };
      const { revokedAt, forgetAt, known } = await store.revoke(wish);
      for (const [old, at] of revoked) if (at <= now) revoked.delete(old);
      add(jti, forgetAt);
      return { jti, revokedAt, known };
    },
    isRevoked(jti) {
      const now = clock.monotonic();
      try {
        if (now - readAt > 2 * pollMs) readNew()?.catch(() => {});
      } catch (cause) {
        throw unreadable(cause);
      }
      if (askedAt !== undefined && now - askedAt > 2 * pollMs) throw unreadable();
      return revoked.has(jti);
    },
    onRevoked(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    list: ({ limit }) => store.listIssued(limit),
    close: () => clearInterval(timer),
  };
}

function unreadable(cause?: unknown): McpxError {
  return new McpxError("identity_unavailable", "the list of revoked tokens cannot be read", { cause });
}
