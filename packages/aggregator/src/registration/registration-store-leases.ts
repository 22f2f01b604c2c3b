// Who owns a subserver now: leases of one process, by monotonic time, so that no step of the wall clock ends or
// prolongs one. They end with the process; the epochs are their store's to keep.
import type { Clock } from "@mcpx/host";
import type { Lease, Owner, RegistrationStore } from "./registration-store.ts";

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

/** `nextEpoch` may take a moment: takes of one subserver wait for each other. */
export function createLeases(
  clock: Clock,
  nextEpoch: (subserverId: string) => number | Promise<number>,
): Pick<RegistrationStore, "take" | "renew" | "letGo"> {
  const bySubserver = new Map<string, Held>();
  const taking = new Map<string, Promise<unknown>>();
  let prunedAt = clock.monotonic();

  function prune(now: number): void {
    if (now - prunedAt < forgetMs) return;
    prunedAt = now;
    for (const [id, { endsAt }] of bySubserver) if (endsAt + forgetMs <= now) bySubserver.delete(id);
  }

  async function take(subserverId: string, owner: Owner, leaseMs: number): Promise<Lease> {
    const held = bySubserver.get(subserverId);
    const refused = refusalOf(held, owner, clock.monotonic());
    if (refused !== undefined) return refused;
    const isLive = held !== undefined && held.endsAt > clock.monotonic();
    const isSameOwner = isLive && held.owner.sessionId === owner.sessionId;
    const epoch = isSameOwner ? held.epoch : await nextEpoch(subserverId);
    const now = clock.monotonic();
    // A lease that had ended may have been renewed meanwhile.
    const late = refusalOf(bySubserver.get(subserverId), owner, now);
    if (late !== undefined) return late;
    bySubserver.set(subserverId, { owner: { ...owner }, epoch, endsAt: endOf(now, leaseMs) });
    return { isOurs: true, epoch };
  }

  return {
    take(subserverId, owner, leaseMs) {
      prune(clock.monotonic());
      const before = taking.get(subserverId);
      const begin = () => take(subserverId, owner, leaseMs);
      const lease = before === undefined ? begin() : before.then(begin);
      const done: Promise<unknown> = lease
        .catch(() => {})
        .then(() => taking.get(subserverId) === done && taking.delete(subserverId));
      taking.set(subserverId, done);
      return lease;
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

/** Where another aggregator's lease has not ended. */
function refusalOf(held: Held | undefined, { aggregatorId }: Owner, now: number): Lease | undefined {
  if (held === undefined || held.endsAt <= now || held.owner.aggregatorId === aggregatorId) return undefined;
  const leftMs = held.endsAt - now;
  return { isOurs: false, owner: { ...held.owner }, leftMs: Number.isFinite(leftMs) ? leftMs : askAgainMs };
}

function endOf(now: number, leaseMs: number): number {
  return leaseMs === 0 ? Number.POSITIVE_INFINITY : now + leaseMs;
}
