// Composes the server from its parts, and takes it apart again in order.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import {
  approveRoutes,
  createAdminRoutes,
  gateRoutes,
  keepPanic,
  type RunningTree,
  toolRoutes,
} from "@mcpx/aggregator";
import {
  createGateway,
  createSqliteTopicLog,
  type GatewayOptions,
  gatewayMigrations,
  type TopicLogTuning,
} from "@mcpx/gateway";
import {
  type Clock,
  createAudit,
  createIdentity,
  createListener,
  createMetrics,
  type IssuerConfig,
  type Listener,
  type ListenerOptions,
  type Logger,
  openDatabase,
  openState,
  systemClock,
} from "@mcpx/host";
import type { Limits } from "@mcpx/protocol";
import { localUrl } from "./local-url.ts";
import { openTree } from "./open-tree.ts";
import { noServers, type TreeSettings } from "./tree-settings.ts";

export interface ServerOptions {
  dataDir: string;
  listen: Pick<ListenerOptions, "host" | "port" | "tls" | "hosts" | "origins" | "insecure">;
  gateway: Partial<GatewayOptions>;
  /** The servers of the tree; none unless given. */
  tree?: TreeSettings;
  issuers: readonly IssuerConfig[];
  limits: Limits;
  log: Logger;
  /** Bounds of the topic log; its own defaults unless given. */
  topicLog?: Partial<TopicLogTuning>;
  /** The system's unless given. */
  clock?: Clock;
}

export interface Server {
  readonly url: string;
  /** Other servers and profiles of the tree, while it runs. */
  change: RunningTree["change"];
  /** Clean end: clients told, acks flushed, everything closed. */
  stop(): Promise<void>;
}

/** Where it throws, everything that was opened is closed again. */
export async function startServer(options: ServerOptions): Promise<Server> {
  // What has been opened, to be closed in the opposite order.
  const opened = new AsyncDisposableStack();
  try {
    const { url, tree } = await open(options, opened);
    return { url, change: tree.change, stop: () => opened.disposeAsync() };
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

interface Opened {
  url: string;
  tree: RunningTree;
}

async function open(options: ServerOptions, opened: AsyncDisposableStack): Promise<Opened> {
  const { dataDir, listen, issuers, limits, log, clock = systemClock } = options;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const metrics = createMetrics();
  const statePath = join(dataDir, "state.db");
  const state = openState(statePath);
  opened.defer(() => state.close());
  const rooms = openDatabase(statePath, { component: "gateway", migrations: gatewayMigrations });
  opened.defer(() => rooms.close());
  const audit = createAudit({ db: state, clock, log, metrics });
  opened.defer(() => audit.close());
  const identity = createIdentity({ db: state, clock, log, issuers, ticketMs: limits.ticketMs });
  opened.defer(() => identity.close());
  let fail = (): void => undefined;
  const topicLog = await createSqliteTopicLog({
    path: join(dataDir, "topics.db"),
    tuning: options.topicLog ?? {},
    onFailure: (error) => {
      log.fatal({ err: error }, "the topic log failed; nothing more is acknowledged");
      fail();
    },
  });
  opened.defer(() => topicLog.close());
  const gateway = await createGateway(
    { clock, log, audit, metrics, identity, state: rooms, topicLog, limits },
    options.gateway,
  );
  fail = gateway.fail;
  let isDrained = false;
  // Where what follows fails: it would keep the process alive.
  opened.defer(async () => {
    if (!isDrained) await gateway.drain();
  });
  let origin = "";
  const parts = { dataDir, identity, issuers, audit, clock, log, limits, url: () => origin };
  const { tree, door, registrar, gates, approvers, db } = await openTree(
    options.tree ?? noServers,
    parts,
    opened,
  );
  let listener: Listener | undefined;
  opened.defer(async () => {
    // Connections are told before their listener goes.
    isDrained = true;
    await door.drain();
    await gateway.drain();
    await listener?.close({ graceMs: 1_000 });
  });
  const routes = [
    ...gateway.routes,
    ...door.routes,
    ...registrar.routes,
    ...toolRoutes({ tree, identity, audit }),
    ...createAdminRoutes(tree, identity),
    ...approveRoutes({ tree, gates, identity, approvers, audit }),
    ...gateRoutes({ tree, identity, audit, keepPanic: (isPanic) => keepPanic(db, isPanic) }),
  ];
  listener = createListener({ ...listen, limits, log, metrics, routes });
  listener.onUpgrade("/v0/ws", gateway.upgrade);
  listener.onUpgrade("/ax", registrar.upgrade);
  const { url } = await listener.start();
  origin = localUrl(url, listen);
  return { url, tree };
}
