// Devices are told what waits: calls at gates, and proposals of rooms that somebody else has made.
import type { Gatekeeper } from "@mcpx/aggregator";
import type { PushStore } from "@mcpx/bridges";
import type { RunningGateway } from "@mcpx/gateway";
import type { Clock, Logger } from "@mcpx/host";
import { defaultPush, type PushSettings } from "../../settings/push-settings.ts";
import type { Stores } from "../../stores/stores.ts";
import { createPushNotices } from "./push-notices.ts";

export interface PushParts {
  stores: Pick<Stores, "push">;
  gates: Pick<Gatekeeper, "watchers">;
  gateway: Pick<RunningGateway, "onProposal">;
  /** Ids of the tree's own: what it shows in rooms waits at its gates. */
  own: readonly string[];
  clock: Clock;
  log: Logger;
}

/** What is opened is closed by `opened`. */
export function openPush(
  { services, contact }: PushSettings = defaultPush,
  { stores, gates, gateway, own, clock, log }: PushParts,
  opened: AsyncDisposableStack,
): { store: PushStore; services: readonly string[] } {
  const store = stores.push;
  const notices = createPushNotices({ store, clock, log, contact });
  const watcher = {
    opened: ({ id }: { id: string }) => notices.waits(`/console/gates/${encodeURIComponent(id)}`),
    changed: () => undefined,
  };
  gates.watchers.add(watcher);
  const forget = gateway.onProposal(({ topic, proposer }) => {
    if (!own.includes(proposer)) notices.waits(`/console/rooms/${encodeURIComponent(topic)}`);
  });
  opened.defer(() => {
    forget();
    gates.watchers.delete(watcher);
    notices.close();
  });
  return { store, services };
}
