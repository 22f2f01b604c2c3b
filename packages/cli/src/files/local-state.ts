// The stores of a data directory, as a command opens them beside the gateway or without one: each when it is asked for.
import { join } from "node:path";
import type { ApproverStore, CredentialStore, TreeStores } from "@mcpx/aggregator";
import type { BridgeStore } from "@mcpx/bridges";
import type { GatewayParts, TopicLog } from "@mcpx/gateway";
import type { AuditOptions, IdentityOptions, PostgresComponent } from "@mcpx/host";
import { approversDir } from "./data-dir.ts";
import type { KnownStore } from "./open-store.ts";

export interface LocalState {
  /** For people. */
  readonly where: string;
  audit(): Promise<AuditOptions["store"]>;
  identity(): Promise<IdentityOptions["store"]>;
  tree(): Promise<TreeStores>;
  bridges(): Promise<BridgeStore>;
  rooms(): Promise<GatewayParts["state"]>;
  credentials(): Promise<CredentialStore>;
  approvers(): Promise<ApproverStore>;
}

/** In `state.db`, which is made where it is missing. What is opened is closed by `opened`. */
export function stateInFiles(dataDir: string, opened: AsyncDisposableStack): LocalState {
  const path = join(dataDir, "state.db");
  const host = once(async () => {
    const { openState } = await import("@mcpx/host");
    const db = openState(path);
    opened.defer(() => db.close());
    return db;
  });
  return {
    where: `the data in ${dataDir}`,
    audit: async () => (await import("@mcpx/host")).createSqliteAuditStore(await host()),
    identity: async () => (await import("@mcpx/host")).createSqliteIdentityStore(await host()),
    tree: once(async () => {
      const { openSqliteTreeStores } = await import("@mcpx/aggregator");
      return opened.use(openSqliteTreeStores(path));
    }),
    bridges: once(async () => {
      const { bridgeMigrations: migrations, createSqliteStore } = await import("@mcpx/bridges");
      const { openDatabase } = await import("@mcpx/host");
      const db = openDatabase(path, { component: "bridges", migrations });
      opened.defer(() => db.close());
      return createSqliteStore(db);
    }),
    rooms: once(async () => {
      const { createSqliteRoomState, gatewayMigrations: migrations } = await import("@mcpx/gateway");
      const { openDatabase } = await import("@mcpx/host");
      const db = openDatabase(path, { component: "gateway", migrations });
      opened.defer(() => db.close());
      return createSqliteRoomState(db);
    }),
    credentials: once(async () => {
      const { createFileCredentialStore } = await import("@mcpx/aggregator");
      return createFileCredentialStore(join(dataDir, "credentials"));
    }),
    approvers: once(async () => {
      const { createFileApproverStore } = await import("@mcpx/aggregator");
      return createFileApproverStore(approversDir(dataDir));
    }),
  };
}

/** In a store of PostgreSQL, over one connection. */
export function stateInPostgres({ url, key, shown }: KnownStore, opened: AsyncDisposableStack): LocalState {
  const host = () => import("@mcpx/host");
  const session = once(async () => {
    const { openPostgresSession, readPostgresAddress } = await host();
    const made = await openPostgresSession(readPostgresAddress(url));
    opened.defer(() => made.close());
    return made;
  });
  /** Its tables are those of this version: a command may be newer than the gateway that ran last. */
  const having = async (component: PostgresComponent) => {
    const { migratePostgres, readPostgresAddress } = await host();
    await migratePostgres(readPostgresAddress(url), component);
    return await session();
  };
  const seal = async () => (await host()).createSeal(key);
  const base = once(async () => having((await host()).hostOnPostgres));
  return {
    where: shown,
    audit: async () => (await host()).createPostgresAuditStore(await base()),
    identity: async () =>
      (await host()).createPostgresIdentityStore({ session: await base(), seal: await seal() }),
    tree: once(async () => {
      const { createPostgresTreeStores, treeOnPostgres } = await import("@mcpx/aggregator");
      return createPostgresTreeStores(await having(treeOnPostgres));
    }),
    bridges: once(async () => {
      const { bridgesOnPostgres, createPostgresStore } = await import("@mcpx/bridges");
      const [{ askPostgres }, used] = [await host(), await having(bridgesOnPostgres)];
      return createPostgresStore((statement, values = []) => askPostgres(used, statement, values));
    }),
    rooms: once(async () => {
      const { createPostgresRoomState, roomsOnPostgres } = await import("@mcpx/gateway");
      return createPostgresRoomState(await having(roomsOnPostgres));
    }),
    credentials: once(async () => {
      const { createPostgresCredentialStore, treeOnPostgres } = await import("@mcpx/aggregator");
      return createPostgresCredentialStore({ session: await having(treeOnPostgres), seal: await seal() });
    }),
    approvers: once(async () => {
      const { createPostgresApproverStore, treeOnPostgres } = await import("@mcpx/aggregator");
      return createPostgresApproverStore(await having(treeOnPostgres));
    }),
  };
}

/** The topic log, to be read beside the gateway that writes it. */
export async function openTopicLog(
  store: KnownStore,
  opened: AsyncDisposableStack,
): Promise<Pick<TopicLog, "topics" | "read">> {
  const { createPostgresTopicLog } = await import("@mcpx/gateway");
  const log = await createPostgresTopicLog({ url: store.url });
  opened.defer(() => log.close());
  return log;
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
