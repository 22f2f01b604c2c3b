// State on PostgreSQL, in one schema: the topic log on connections of its own, everything else on one. Only one gateway
// uses a store: a lease by the engine's clock says which.
import {
  createPostgresApproverStore,
  createPostgresCredentialStore,
  createPostgresTreeStores,
  treeOnPostgres,
} from "@mcpx/aggregator";
import {
  type AskPostgres,
  bridgesOnPostgres,
  createPostgresPushStore,
  createPostgresStore,
} from "@mcpx/bridges";
import {
  createPostgresRoomState,
  createPostgresTopicLog,
  postgresTopicLogStore,
  roomsOnPostgres,
} from "@mcpx/gateway";
import {
  askPostgres,
  clusterOnPostgres,
  createPostgresAuditPositions,
  createPostgresAuditStore,
  createPostgresClusterStore,
  createPostgresIdentityStore,
  createSeal,
  hostOnPostgres,
  type Logger,
  migratePostgres,
  openPostgresSession,
  readPostgresAddress,
} from "@mcpx/host";
import {
  authorizationOnPostgres,
  createPostgresAuthorizationStore,
} from "../authorization/store/store-postgres.ts";
import { holdStore } from "./hold-store.ts";
import type { StoreEvents, Stores } from "./stores.ts";

export interface PostgresStoresOptions extends StoreEvents {
  /** `postgres://…` */
  url: string;
  /** Secrets are sealed with it; it is not in the engine. */
  key: Uint8Array;
  log: Logger;
}

/** Rejects where the server cannot be used, or another gateway uses the store. What is opened is closed by `opened`. */
export async function openPostgresStores(
  { url, key, log, onFailure, onReach }: PostgresStoresOptions,
  opened: AsyncDisposableStack,
): Promise<Stores> {
  const address = readPostgresAddress(url);
  const seal = createSeal(key);
  const reach = createReach(log, onReach);
  const components = [clusterOnPostgres, hostOnPostgres, roomsOnPostgres, postgresTopicLogStore];
  await migratePostgres(address, ...components, treeOnPostgres, bridgesOnPostgres, authorizationOnPostgres);
  const session = await openPostgresSession(address, {
    onWarning: (warning) => log.warn({ warning }, "PostgreSQL"),
    ...reach("state"),
  });
  opened.defer(() => session.close());
  const { lost, back } = { lost: reach("lease").onLost, back: reach("lease").onBack };
  opened.use(
    await holdStore({
      store: createPostgresClusterStore(session),
      log,
      onLost: lost,
      onBack: back,
      onFailure,
    }),
  );
  const topicLog = await createPostgresTopicLog({ url, onFailure, ...reach("topic log") });
  opened.defer(() => topicLog.close());
  const ask: AskPostgres = (statement, values = []) => askPostgres(session, statement, values);
  return {
    audit: createPostgresAuditStore(session),
    auditPositions: createPostgresAuditPositions(session),
    identity: createPostgresIdentityStore({ session, seal }),
    rooms: createPostgresRoomState(session),
    topicLog,
    tree: createPostgresTreeStores(session),
    credentials: createPostgresCredentialStore({ session, seal }),
    approvers: createPostgresApproverStore(session),
    authorization: createPostgresAuthorizationStore({ session, seal }),
    bridges: createPostgresStore(ask),
    push: createPostgresPushStore(ask, seal),
  };
}

/** Several connections as one thing that can be reached or not. */
function createReach(log: Logger, onReach: (isCutOff: boolean) => void) {
  const lost = new Set<string>();
  return (name: string) => ({
    onLost(error: Error) {
      log.error(
        { err: error, lost: name },
        "PostgreSQL cannot be reached; nothing is acknowledged until it can",
      );
      lost.add(name);
      onReach(true);
    },
    onBack() {
      lost.delete(name);
      if (lost.size > 0) return;
      log.info("PostgreSQL is back");
      onReach(false);
    },
  });
}
