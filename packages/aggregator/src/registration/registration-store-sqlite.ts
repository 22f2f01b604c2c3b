// Registrations in `state.db`. Claims, proofs and epochs outlive the process, leases do not.
import type { DatabaseSync } from "node:sqlite";
import { type Clock, durably, immediately } from "@mcpx/host";
import {
  type Claim,
  epochsMax,
  proofSlackMs,
  pruneMs,
  type RegistrationStore,
} from "./registration-store.ts";
import { createLeases } from "./registration-store-leases.ts";

interface SqliteRegistrationStoreOptions {
  /** Has the tables of `aggregatorMigrations`, and is closed by the code that opened it. */
  db: DatabaseSync;
  clock: Clock;
  /** `epochsMax` unless given. */
  epochsMax?: number;
}

export function createSqliteRegistrationStore(options: SqliteRegistrationStoreOptions): RegistrationStore {
  const { db, clock, epochsMax: kept = epochsMax } = options;
  return {
    ...createClaims(options),
    ...createProofs(options),
    ...createLeases(clock, createEpochs(db, kept)),
  };
}

function createClaims({
  db,
  clock,
}: SqliteRegistrationStoreOptions): Pick<RegistrationStore, "claim" | "touch" | "leave" | "release"> {
  const take = db.prepare(
    `INSERT INTO segment_claims (segment, subserver_id, identity, registrant, is_proven, until_ms)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (segment) DO UPDATE SET subserver_id = excluded.subserver_id, identity = excluded.identity,
       registrant = excluded.registrant, is_proven = excluded.is_proven, until_ms = excluded.until_ms
     WHERE identity = excluded.identity OR until_ms <= ?`,
  );
  const find = db.prepare(
    "SELECT segment, subserver_id, identity, registrant, is_proven FROM segment_claims WHERE segment = ?",
  );
  const elsewhere = db.prepare(
    `SELECT segment, subserver_id, identity, registrant, is_proven FROM segment_claims
     WHERE subserver_id = ? AND segment <> ? AND registrant <> ? AND until_ms > ?`,
  );
  const leave = db.prepare(
    "UPDATE segment_claims SET subserver_id = '', until_ms = ? WHERE segment = ? AND until_ms > ?",
  );
  const touch = db.prepare("UPDATE segment_claims SET until_ms = ? WHERE segment = ? AND until_ms > ?");
  const release = db.prepare("DELETE FROM segment_claims WHERE segment = ? AND subserver_id = ?");
  const prune = db.prepare("DELETE FROM segment_claims WHERE until_ms <= ?");
  const isTimeToPrune = nowAndThen(clock);
  return {
    async claim({ segment, subserverId, identity, registrant, isProven }, keepMs) {
      const now = clock.now();
      return immediately(db, () => {
        if (isTimeToPrune()) prune.run(now);
        const other = elsewhere.get(subserverId, segment, registrant, now);
        if (other !== undefined) return claimOf(other);
        take.run(segment, subserverId, identity, registrant, isProven ? 1 : 0, endOf(now, keepMs), now);
        return claimOf(find.get(segment) ?? {});
      });
    },
    async touch(segment, keepMs) {
      const now = clock.now();
      immediately(db, () => touch.run(endOf(now, keepMs), segment, now));
    },
    async leave(segment, keepMs) {
      const now = clock.now();
      immediately(db, () => leave.run(endOf(now, keepMs), segment, now));
    },
    async release(segment, subserverId) {
      immediately(db, () => release.run(segment, subserverId));
    },
  };
}

function createProofs({ db, clock }: SqliteRegistrationStoreOptions): Pick<RegistrationStore, "useProof"> {
  const use = db.prepare("INSERT INTO used_proofs (id, until_ms) VALUES (?, ?) ON CONFLICT DO NOTHING");
  const prune = db.prepare("DELETE FROM used_proofs WHERE until_ms <= ?");
  const isTimeToPrune = nowAndThen(clock);
  return {
    async useProof(id, untilMs) {
      return durably(db, () => {
        if (isTimeToPrune()) prune.run(clock.now() - proofSlackMs);
        return use.run(id, Math.ceil(untilMs)).changes > 0;
      });
    },
  };
}

function createEpochs(db: DatabaseSync, kept: number): (subserverId: string) => number {
  const find = db.prepare("SELECT epoch FROM subserver_epochs WHERE subserver_id = ?");
  const write = db.prepare("INSERT OR REPLACE INTO subserver_epochs (subserver_id, epoch) VALUES (?, ?)");
  // Each write has a higher number: those far behind are of subservers that were not seen for long.
  const highest = db.prepare("SELECT max(epoch) AS epoch FROM subserver_epochs WHERE number <= ?");
  const prune = db.prepare("DELETE FROM subserver_epochs WHERE number <= ?");
  const floor = db.prepare("SELECT value FROM tree_facts WHERE name = 'epoch_floor'");
  const raise = db.prepare(
    `INSERT INTO tree_facts VALUES ('epoch_floor', ?)
     ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)`,
  );
  return (subserverId) =>
    immediately(db, () => {
      const epoch = Number(find.get(subserverId)?.epoch ?? floor.get()?.value ?? 0) + 1;
      const last = Number(write.run(subserverId, epoch).lastInsertRowid) - kept;
      const forgotten = highest.get(last)?.epoch;
      if (typeof forgotten === "number") {
        raise.run(forgotten);
        prune.run(last);
      }
      return epoch;
    });
}

/** At the first write too: a process may have been away for long. */
function nowAndThen(clock: Clock): () => boolean {
  let lastAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = clock.monotonic();
    if (now - lastAt < pruneMs) return false;
    lastAt = now;
    return true;
  };
}

function endOf(now: number, keepMs: number): number {
  return Math.ceil(now + keepMs);
}

function claimOf(row: Record<string, unknown>): Claim {
  return {
    segment: String(row.segment),
    subserverId: String(row.subserver_id),
    identity: String(row.identity),
    registrant: String(row.registrant ?? ""),
    isProven: row.is_proven === 1,
  };
}
