// What a command does about links beside a gateway that runs, or without one: in the store of the gateway.
import type { BridgeStore, Link } from "@mcpx/bridges";
import type { Audit, Identity } from "@mcpx/host";
import { withChain } from "../access/authority.ts";
import { type LocalStore, localUser, withStore } from "../files/local-store.ts";
import type { Home } from "../files/state-place.ts";
import { linkJti } from "./open-bridges.ts";
import { pressesOf } from "./press-authority.ts";

export interface BridgeRecords extends Omit<LocalStore, "bridges"> {
  store: BridgeStore;
  actor: string;
}

export interface LinkEnding extends Pick<BridgeRecords, "store" | "actor"> {
  identity: Pick<Identity, "revocations">;
  audit: Pick<Audit, "recordNow">;
}

export function withBridgeRecords<T>(home: Home, work: (records: BridgeRecords) => Promise<T>): Promise<T> {
  return withStore(home, { mayCreate: true }, async ({ bridges, ...local }) =>
    work({ ...local, store: await bridges(), actor: `cli:${localUser()}` }),
  );
}

/** Its connections end too: at once where the gateway runs, within a second. */
export async function endLink({ store, identity, audit, actor }: LinkEnding, link: Link): Promise<void> {
  await store.unlink(link.bridge, link.user);
  await identity.revocations.revoke(linkJti(link.id));
  const { bridge, user, participant } = link;
  await audit.recordNow({ action: "bridge.unlink", actor, subject: participant, detail: { bridge, user } });
}

/** All links of a bridge that is no more, its cards and what its presses counted as; says how many were linked. */
export function forgetBridge(home: Home, bridge: string, actor?: string): Promise<number> {
  return withBridgeRecords(home, async (records) => {
    const ending = { ...records, actor: actor ?? records.actor };
    const links = await records.store.links(bridge);
    for (const link of links) await endLink(ending, link);
    await records.store.removeBridge(bridge);
    await withChain(home, {}, async ({ chain }) => {
      await chain.settle((state) => pressesOf(state, bridge).map((key) => ({ key, value: null })));
    });
    return links.length;
  });
}
