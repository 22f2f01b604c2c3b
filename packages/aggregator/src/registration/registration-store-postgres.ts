// Registrations on PostgreSQL. Claims, proofs and epochs outlive the process; leases do not, as long as one gateway has
// the store for itself. Each verb is one statement, so that it is done or not.
import { askPostgres, type Clock, type PostgresSession } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import {
  type Claim,
  epochsMax,
  proofSlackMs,
  pruneMs,
  type RegistrationStore,
} from "./registration-store.ts";
import { createLeases } from "./registration-store-leases.ts";

interface PostgresRegistrationStoreOptions {
  /** Of a store with the tables of `treeOnPostgres`; closed by the code that opened it. */
  session: PostgresSession;
  clock: Clock;
  /** `epochsMax` unless given. */
  epochsMax?: number;
}

/** Nothing comes back where another process has taken the segment since the statement began. */
const triesMax = 8;

type ClaimRow = [
  segment: Buffer,
  subserverId: Buffer,
  identity: Buffer,
  registrant: Buffer,
  isProven: boolean,
];

const columns = "segment, subserver_id, identity, registrant, is_proven";

/** The row of the id's other segment if another registrant holds it, else the new claim, else the claim that stands. */
const claim = {
  name: "claims-take",
  text: `
    WITH elsewhere AS (
      SELECT ${columns} FROM segment_claims
      WHERE subserver_id = $2 AND segment <> $1 AND registrant <> $4 AND until_ms > $7::bigint LIMIT 1
    ), taken AS (
      INSERT INTO segment_claims AS old (${columns}, until_ms)
      SELECT $1::bytea, $2::bytea, $3::bytea, $4::bytea, $5::boolean, $6::bigint
      WHERE NOT EXISTS (SELECT 1 FROM elsewhere)
      ON CONFLICT (segment) DO UPDATE SET subserver_id = excluded.subserver_id, identity = excluded.identity,
        registrant = excluded.registrant, is_proven = excluded.is_proven, until_ms = excluded.until_ms
      WHERE old.identity = excluded.identity OR old.until_ms <= $7::bigint
      RETURNING ${columns}
    )
    SELECT ${columns} FROM elsewhere UNION ALL SELECT ${columns} FROM taken UNION ALL
    SELECT ${columns} FROM segment_claims WHERE segment = $1
    AND NOT EXISTS (SELECT 1 FROM elsewhere) AND NOT EXISTS (SELECT 1 FROM taken)`,
};
const touch = {
  name: "claims-touch",
  text: "UPDATE segment_claims SET until_ms = $2::bigint WHERE segment = $1 AND until_ms > $3::bigint",
};
const leave = {
  name: "claims-leave",
  text: `UPDATE segment_claims SET subserver_id = '', until_ms = $2::bigint
         WHERE segment = $1 AND until_ms > $3::bigint`,
};
const release = {
  name: "claims-release",
  text: "DELETE FROM segment_claims WHERE segment = $1 AND subserver_id = $2",
};
const pruneClaims = {
  name: "claims-prune",
  text: "DELETE FROM segment_claims WHERE until_ms <= $1::bigint",
};
const useProof = {
  name: "proofs-use",
  text: "INSERT INTO used_proofs (id, until_ms) VALUES ($1, $2::bigint) ON CONFLICT DO NOTHING RETURNING 1",
};
const pruneProofs = { name: "proofs-prune", text: "DELETE FROM used_proofs WHERE until_ms <= $1::bigint" };

/** Each has a higher number: those far behind are of subservers that were not seen for long. */
const nextEpoch = {
  name: "epochs-next",
  text: `
    WITH known AS (
      UPDATE subserver_epochs SET epoch = epoch + 1, number = nextval('subserver_epochs_numbers')
      WHERE subserver_id = $1 RETURNING epoch, number
    ), added AS (
      INSERT INTO subserver_epochs (subserver_id, epoch, number)
      SELECT $1::bytea, 1 + coalesce((SELECT value FROM tree_numbers WHERE name = 'epoch_floor'), 0),
        nextval('subserver_epochs_numbers')
      WHERE NOT EXISTS (SELECT 1 FROM known) RETURNING epoch, number
    )
    SELECT epoch, number FROM known UNION ALL SELECT epoch, number FROM added`,
};
/** Who was forgotten goes on above the highest of those forgotten. */
const forgetEpochs = {
  name: "epochs-forget",
  text: `
    WITH forgotten AS (DELETE FROM subserver_epochs WHERE number <= $1::bigint RETURNING epoch)
    INSERT INTO tree_numbers AS old SELECT 'epoch_floor', max(epoch) FROM forgotten HAVING count(*) > 0
    ON CONFLICT (name) DO UPDATE SET value = greatest(old.value, excluded.value)`,
};

export function createPostgresRegistrationStore(
  options: PostgresRegistrationStoreOptions,
): RegistrationStore {
  const { clock } = options;
  return {
    ...createClaims(options),
    ...createProofs(options),
    ...createLeases(clock, createEpochs(options)),
  };
}

function createClaims({
  session,
  clock,
}: PostgresRegistrationStoreOptions): Pick<RegistrationStore, "claim" | "touch" | "leave" | "release"> {
  const isTimeToPrune = nowAndThen(clock);
  const end = (keepMs: number) => Math.ceil(clock.now() + keepMs);
  const now = () => Math.floor(clock.now());
  return {
    async claim({ segment, subserverId, identity, registrant, isProven }, keepMs) {
      if (isTimeToPrune()) await askPostgres(session, pruneClaims, [now()]);
      const texts = [segment, subserverId, identity, registrant].map(bytes);
      const values = [...texts, String(isProven), end(keepMs), now()];
      for (let tries = 0; tries < triesMax; tries += 1) {
        const [row] = await askPostgres<ClaimRow>(session, claim, values);
        if (row !== undefined) return claimOf(row);
      }
      throw new McpxError("rate_limited", "other registrations keep claiming the same segment", {
        retryAfterMs: 1_000,
      });
    },
    async touch(segment, keepMs) {
      await askPostgres(session, touch, [bytes(segment), end(keepMs), now()]);
    },
    async leave(segment, keepMs) {
      await askPostgres(session, leave, [bytes(segment), end(keepMs), now()]);
    },
    async release(segment, subserverId) {
      await askPostgres(session, release, [bytes(segment), bytes(subserverId)]);
    },
  };
}

function createProofs({
  session,
  clock,
}: PostgresRegistrationStoreOptions): Pick<RegistrationStore, "useProof"> {
  const isTimeToPrune = nowAndThen(clock);
  return {
    async useProof(id, untilMs) {
      if (isTimeToPrune()) await askPostgres(session, pruneProofs, [Math.floor(clock.now() - proofSlackMs)]);
      return (await askPostgres(session, useProof, [bytes(id), Math.ceil(untilMs)])).length > 0;
    },
  };
}

function createEpochs({
  session,
  epochsMax: kept = epochsMax,
}: PostgresRegistrationStoreOptions): (subserverId: string) => Promise<number> {
  return async (subserverId) => {
    const [row] = await askPostgres<[epoch: number, number: number]>(session, nextEpoch, [
      bytes(subserverId),
    ]);
    if (row === undefined) throw new Error("an epoch was stored and did not come back");
    await askPostgres(session, forgetEpochs, [row[1] - kept]);
    return row[0];
  };
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

function bytes(text: string): Buffer {
  return Buffer.from(text);
}

function claimOf([segment, subserverId, identity, registrant, isProven]: ClaimRow): Claim {
  return {
    segment: segment.toString(),
    subserverId: subserverId.toString(),
    identity: identity.toString(),
    registrant: registrant.toString(),
    isProven,
  };
}
