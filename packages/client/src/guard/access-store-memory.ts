// In memory: everything is forgotten with the program, so what was granted before is worth nothing afterwards.
import {
  type AccessStore,
  type AccessStoreBounds,
  defaultBounds,
  type GrantRecord,
  type Spending,
  type SpendOutcome,
} from "./access-store.ts";

interface Counted {
  uses: number;
  isRevoked: boolean;
  untilMs: number;
}

const sweepEvery = 1_024;

/** @example createGuard({ key, store: createMemoryAccessStore() }); */
export function createMemoryAccessStore(bounds: Partial<AccessStoreBounds> = {}): AccessStore {
  const { noncesMax, grantsMax } = { ...defaultBounds, ...bounds };
  const nonces = new Map<string, number>();
  const counted = new Map<string, Counted>();
  const grants = new Map<string, GrantRecord>();
  let sinceSweep = 0;

  function sweep(nowMs: number): void {
    sinceSweep = 0;
    for (const [nonce, untilMs] of nonces) if (untilMs <= nowMs) nonces.delete(nonce);
    for (const [id, { untilMs }] of counted) if (untilMs <= nowMs) counted.delete(id);
    for (const [id, { untilMs }] of grants) if (untilMs <= nowMs) grants.delete(id);
  }

  function countOf(id: string, untilMs: number): Counted {
    const known = counted.get(id) ?? { uses: 0, isRevoked: false, untilMs };
    counted.set(id, known);
    known.untilMs = Math.max(known.untilMs, untilMs);
    return known;
  }

  function spendNow({ nonce, nonceUntilMs, capabilities }: Spending, nowMs: number): SpendOutcome {
    sinceSweep += 1;
    if (sinceSweep >= sweepEvery || nonces.size >= noncesMax) sweep(nowMs);
    if (!grants.has(capabilities.at(-1)?.id ?? "")) return "unknown";
    if (capabilities.some(({ id }) => counted.get(id)?.isRevoked)) return "revoked";
    if ((nonces.get(nonce) ?? 0) > nowMs) return "replayed";
    const isUsedUp = capabilities.some(
      ({ id, maxUses }) => maxUses !== undefined && (counted.get(id)?.uses ?? 0) >= maxUses,
    );
    if (isUsedUp) return "uses_exhausted";
    if (nonces.size >= noncesMax) return "full";
    nonces.set(nonce, nonceUntilMs);
    for (const { id, untilMs } of capabilities) countOf(id, untilMs).uses += 1;
    return "spent";
  }

  return {
    spend: async (spending, nowMs) => spendNow(spending, nowMs),
    async revoke(capabilities) {
      for (const { id, untilMs } of capabilities) countOf(id, untilMs).isRevoked = true;
    },
    async remember(grant, nowMs) {
      if (grants.size >= grantsMax) sweep(nowMs);
      if (grants.size >= grantsMax) return false;
      grants.set(grant.id, grant);
      return true;
    },
    async grants(nowMs) {
      sweep(nowMs);
      return [...grants.values()].map((grant) => {
        const { uses = 0, isRevoked = false } = counted.get(grant.id) ?? {};
        return { ...grant, uses, isRevoked };
      });
    },
    async close() {},
  };
}
