// What a command does about links beside a gateway that runs, or without one: in the store of the data directory.
import { join } from "node:path";
import { type BridgeStore, bridgeMigrations, createSqliteStore, type Link } from "@mcpx/bridges";
import { type Audit, type Identity, openDatabase } from "@mcpx/host";
import { withChain } from "../access/authority.ts";
import { type LocalStore, localUser, withStore } from "../files/local-store.ts";
import { linkJti } from "./open-bridges.ts";
import { pressesOf } from "./press-authority.ts";

export interface BridgeRecords extends LocalStore {
  store: BridgeStore;
  actor: string;
}

export interface LinkEnding extends Pick<BridgeRecords, "store" | "actor"> {
  identity: Pick<Identity, "revocations">;
  audit: Pick<Audit, "recordNow">;
}

export function withBridgeRecords<T>(
  dataDir: string,
  work: (records: BridgeRecords) => Promise<T>,
): Promise<T> {
  return withStore(dataDir, { mayCreate: true }, async (local) => {
    const path = join(dataDir, "state.db");
    using db = openDatabase(path, { component: "bridges", migrations: bridgeMigrations });
    return await work({ ...local, store: createSqliteStore(db), actor: `cli:${localUser()}` });
  });
}

/** Its connections end too: at once where the gateway runs, within a second. */
export async function endLink({ store, identity, audit, actor }: LinkEnding, link: Link): Promise<void> {
  await store.unlink(link.bridge, link.user);
  await identity.revocations.revoke(linkJti(link.id));
  const { bridge, user, participant } = link;
  await audit.recordNow({ action: "bridge.unlink", actor, subject: participant, detail: { bridge, user } });
}

/** All links of a bridge that is no more, its cards and what its presses counted as; says how many were linked. */
export function forgetBridge(dataDir: string, bridge: string, actor?: string): Promise<number> {
  return withBridgeRecords(dataDir, async (records) => {
    const ending = { ...records, actor: actor ?? records.actor };
    const links = await records.store.links(bridge);
    for (const link of links) await endLink(ending, link);
    await records.store.removeBridge(bridge);
    await withChain(dataDir, {}, async ({ chain }) => {
      await chain.settle((state) => pressesOf(state, bridge).map((key) => ({ key, value: null })));
    });
    return links.length;
  });
}
