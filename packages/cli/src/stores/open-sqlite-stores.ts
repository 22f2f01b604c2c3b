// State in the data directory: `state.db`, `topics.db`, and a file for each credential and each approver.
import { join } from "node:path";
import { createFileApproverStore, createFileCredentialStore, openSqliteTreeStores } from "@mcpx/aggregator";
import { bridgeMigrations, createSqlitePushStore, createSqliteStore } from "@mcpx/bridges";
import {
  createSqliteRoomState,
  createSqliteTopicLog,
  gatewayMigrations,
  type TopicLogTuning,
} from "@mcpx/gateway";
import {
  createSqliteAuditPositions,
  createSqliteAuditStore,
  createSqliteIdentityStore,
  type Migration,
  openDatabase,
  openState,
} from "@mcpx/host";
import {
  authorizationMigrations,
  createSqliteAuthorizationStore,
} from "../authorization/store/store-sqlite.ts";
import { approversDir } from "../files/data-dir.ts";
import type { StoreEvents, Stores } from "./stores.ts";

export interface SqliteStoresOptions extends Pick<StoreEvents, "onFailure"> {
  dataDir: string;
  /** Bounds of the topic log; its own defaults unless given. */
  tuning?: Partial<TopicLogTuning> | undefined;
}

/** What is opened is closed by `opened`. */
export async function openSqliteStores(
  { dataDir, tuning = {}, onFailure }: SqliteStoresOptions,
  opened: AsyncDisposableStack,
): Promise<Stores> {
  const path = join(dataDir, "state.db");
  const open = (component: string, migrations: readonly Migration[]) => {
    const db = openDatabase(path, { component, migrations });
    opened.defer(() => db.close());
    return db;
  };
  const state = openState(path);
  opened.defer(() => state.close());
  const bridges = open("bridges", bridgeMigrations);
  const topicLog = await createSqliteTopicLog({ path: join(dataDir, "topics.db"), tuning, onFailure });
  opened.defer(() => topicLog.close());
  return {
    audit: createSqliteAuditStore(state),
    auditPositions: createSqliteAuditPositions(state),
    identity: createSqliteIdentityStore(state),
    rooms: createSqliteRoomState(open("gateway", gatewayMigrations)),
    topicLog,
    tree: opened.use(openSqliteTreeStores(path, { isRelaxed: true })),
    credentials: await createFileCredentialStore(join(dataDir, "credentials")),
    approvers: createFileApproverStore(approversDir(dataDir)),
    authorization: createSqliteAuthorizationStore(open("authorization", authorizationMigrations)),
    bridges: createSqliteStore(bridges),
    push: createSqlitePushStore(bridges),
  };
}
