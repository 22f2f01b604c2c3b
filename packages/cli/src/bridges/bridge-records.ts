// What a command does about links beside a gateway that runs, or without one: in the store of the data directory.
import { join } from "node:path";
import { type BridgeStore, bridgeMigrations, createSqliteStore, type Link } from "@mcpx/bridges";
import { openDatabase } from "@mcpx/host";
import { type LocalStore, localUser, withStore } from "../files/local-store.ts";
import { linkJti } from "./open-bridges.ts";

export interface BridgeRecords extends LocalStore {
  store: BridgeStore;
  actor: string;
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
export async function endLink({ store, identity, audit, actor }: BridgeRecords, link: Link): Promise<void> {
  await store.unlink(link.bridge, link.user);
  identity.revocations.revoke(linkJti(link.id));
  const { bridge, user, participant } = link;
  audit.recordNow({ action: "bridge.unlink", actor, subject: participant, detail: { bridge, user } });
}
