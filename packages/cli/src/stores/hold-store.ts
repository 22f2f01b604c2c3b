// One gateway has a store on PostgreSQL to itself, for as long as it says that it lives. Two that were started on one
// would each take the other's waiting calls for lost.
import { hostname } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { type ClusterStore, joinCluster, type Logger } from "@mcpx/host";
import { version } from "../framework/version.ts";

interface HoldOptions {
  store: ClusterStore;
  log: Logger;
  /** It may be another's; told again when it is ours. */
  onLost(error: Error): void;
  onBack(): void;
  /** It is another's. */
  onFailure(error: Error): void;
  leaseMs?: number;
}

const duty = "gateway";
const leaseDefaultMs = 5_000;
const askAgainMs = 500;

/** Rejects where another gateway holds the store. The lease of a killed gateway is waited for. */
export async function holdStore(options: HoldOptions): Promise<AsyncDisposable> {
  const { store, log, onLost, onBack, onFailure, leaseMs = leaseDefaultMs } = options;
  let isEnding = false;
  const self = { id: `${hostname()}:${process.pid}`, address: "", version };
  const membership = await joinCluster({ store, self, leaseMs, log, onLost: () => void regain() });

  const isOurs = async () => {
    const number = membership.number();
    return number !== undefined && (await store.hold(duty, number));
  };

  /** After a lease that ended the store is ours again, or another's. */
  async function regain(): Promise<void> {
    onLost(new Error("the lease of this gateway has ended"));
    while (!isEnding) {
      await pause(askAgainMs, undefined, { ref: false });
      // Where the store does not answer, it is asked again.
      const held = await isOurs().catch(() => undefined);
      if (held === true) return onBack();
      if (held === false && membership.number() !== undefined)
        return onFailure(new Error(await whose(store)));
    }
  }

  if (!(await isOurs())) {
    const others = (await store.gateways()).filter(({ number }) => number !== membership.number());
    const waitMs = Math.max(0, ...others.map(({ leaseLeftMs }) => leaseLeftMs));
    log.info({ waitMs }, "waiting for the lease of the gateway that had this store");
    await pause(waitMs + askAgainMs);
    if (!(await isOurs())) {
      const message = await whose(store);
      await membership.leave();
      throw new Error(message);
    }
  }
  return {
    async [Symbol.asyncDispose]() {
      isEnding = true;
      await membership.leave();
    },
  };
}

async function whose(store: ClusterStore): Promise<string> {
  const [first] = await store.gateways();
  const who = first === undefined ? "another gateway" : `the gateway ${first.id}`;
  return `${who} uses this PostgreSQL store; stop it, or give this one another schema (?schema=NAME)`;
}
