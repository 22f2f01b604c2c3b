// Who owns a subserver now: leases of one process, by monotonic time, so that no step of the wall clock ends or
// prolongs one. They end with the process; the epochs are their store's to keep.
import type { Clock } from "@mcpx/host";
import type { Owner, RegistrationStore } from "./registration-store.ts";

interface Held {
  owner: Owner;
  epoch: number;
  /** Monotonic ms; infinite until it is let go. */
  endsAt: number;
}

/** Whose lease is over may renew it while nobody else has come; after so long nobody does. */
const forgetMs = 3_600_000;
/** Where a lease does not end by itself. */
const askAgainMs = 60_000;

export function createLeases(
  clock: Clock,
  nextEpoch: (subserverId: string) => number,
): Pick<RegistrationStore, "take" | "renew" | "letGo"> {
  const bySubserver = new Map<string, Held>();
  let prunedAt = clock.monotonic();

  function prune(now: number): void {
    if (now - prunedAt < forgetMs) return;
    prunedAt = now;
    for (const [id, { endsAt }] of bySubserver) if (endsAt + forgetMs <= now) bySubserver.delete(id);
  }

  return {
    async take(subserverId, { aggregatorId, sessionId }, leaseMs) {
      const now = clock.monotonic();
      prune(now);
      const held = bySubserver.get(subserverId);
      const isLive = held !== undefined && held.endsAt > now;
      if (isLive && held.owner.aggregatorId !== aggregatorId) {
        const leftMs = held.endsAt - now;
        return {
          isOurs: false,
          owner: { ...held.owner },
          leftMs: Number.isFinite(leftMs) ? leftMs : askAgainMs,
        };
      }
      const isSameOwner = isLive && held.owner.sessionId === sessionId;
      const epoch = isSameOwner ? held.epoch : nextEpoch(subserverId);
      bySubserver.set(subserverId, {
        owner: { aggregatorId, sessionId },
        epoch,
        endsAt: endOf(now, leaseMs),
      });
      return { isOurs: true, epoch };
    },
    async renew(subserverId, sessionId, leaseMs) {
      const held = bySubserver.get(subserverId);
      if (held?.owner.sessionId !== sessionId) return false;
      held.endsAt = endOf(clock.monotonic(), leaseMs);
      return true;
    },
    async letGo(subserverId, sessionId) {
      if (bySubserver.get(subserverId)?.owner.sessionId === sessionId) bySubserver.delete(subserverId);
    },
  };
}

function endOf(now: number, leaseMs: number): number {
  return leaseMs === 0 ? Number.POSITIVE_INFINITY : now + leaseMs;
}
