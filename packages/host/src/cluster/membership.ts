// A gateway's own place in the cluster: it says that it lives for as long as it does, and knows when that was not heard.
import type { Logger } from "../logging/log.ts";
import type { ClusterGateway, ClusterStore, GatewayAddress } from "./cluster-store.ts";

export interface Membership {
  /** The number of this gateway; undefined while it is no member. */
  number(): number | undefined;
  /** Those that live, this one among them, as of the last time it asked. */
  gateways(): readonly ClusterGateway[];
  /** From now on it is no member any more. */
  leave(): Promise<void>;
}

export interface MembershipOptions {
  store: ClusterStore;
  self: GatewayAddress;
  leaseMs?: number;
  log: Logger;
  /** Its lease has ended, or may have: what it held may be another's. It will be a member again, under another number. */
  onLost(): void;
}

/** Long enough for a pause of the machine, short enough that a dead gateway is missed. */
const leaseDefaultMs = 5_000;
/** How often it is said within a lease. */
const renewals = 5;

/** Rejects where the store does not answer. */
export async function joinCluster(options: MembershipOptions): Promise<Membership> {
  const { store, self, leaseMs = leaseDefaultMs, log, onLost } = options;
  let number: number | undefined;
  let gateways: readonly ClusterGateway[] = [];
  /** When the store was asked for the lease that is in force: it ends not before that and the lease's time. */
  let askedAt = 0;
  let isLeaving = false;

  async function join(): Promise<void> {
    askedAt = performance.now();
    number = await store.join(self, leaseMs);
    gateways = await store.gateways();
    log.info({ gateway: number, id: self.id, address: self.address }, "joined the cluster");
  }

  function lose(reason: string): void {
    if (number === undefined) return;
    log.warn({ gateway: number, reason }, "the lease of this gateway has ended");
    number = undefined;
    onLost();
  }

  async function renew(): Promise<void> {
    if (number === undefined) return join();
    const now = performance.now();
    if (await store.renew(number, leaseMs)) askedAt = now;
    else return lose("the store says so");
    gateways = await store.gateways();
  }

  let renewing: Promise<void> | undefined;
  const timer = setInterval(() => {
    if (isLeaving) return;
    if (performance.now() - askedAt > leaseMs) lose("it could not be renewed in time");
    renewing ??= renew()
      .catch((error: unknown) => log.warn({ err: error }, "could not renew the lease of this gateway"))
      .finally(() => {
        renewing = undefined;
      });
  }, leaseMs / renewals);
  try {
    await join();
  } catch (error) {
    clearInterval(timer);
    throw error;
  }
  return {
    number: () => number,
    gateways: () => gateways,
    async leave() {
      isLeaving = true;
      clearInterval(timer);
      await renewing;
      const left = number;
      number = undefined;
      if (left !== undefined) await store.end(left);
    },
  };
}
