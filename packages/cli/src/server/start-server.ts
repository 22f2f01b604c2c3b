// Composes the server from its parts, and takes it apart again in order.
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import {
  approveRoutes,
  createAdminRoutes,
  gateRoutes,
  keepPanic,
  type RunningTree,
  signInRoutes,
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
  createByteLedger,
  createIdentity,
  createListener,
  createMetrics,
  createTurns,
  type IssuerConfig,
  type Listener,
  type ListenerOptions,
  type Logger,
  openDatabase,
  openState,
  type Route,
  systemClock,
} from "@mcpx/host";
import type { Limits } from "@mcpx/protocol";
import type { Rooms } from "../access/local-gateway.ts";
import { localUrl } from "../access/local-url.ts";
import { proposalRoutes } from "../audit/proposals/proposal-routes.ts";
import { type Console, createConsole } from "../console/console-routes.ts";
import type { Configuration } from "../console/servers/configuration.ts";
import { approvalPage } from "../console/static-files.ts";
import { deviceRoutes } from "../devices/device-routes.ts";
import { type OpenDevices, openDevices } from "../devices/open-devices.ts";
import { localUser } from "../files/local-store.ts";
import { noServers, type TreeSettings } from "../settings/tree-settings.ts";
import { nameRoutes } from "./name-routes.ts";
import { openRooms, ownIds, roomWay, servingIds } from "./open-rooms.ts";
import { openTree } from "./open-tree.ts";
import { openTreeRooms } from "./open-tree-rooms.ts";

export interface ServerOptions {
  dataDir: string;
  listen: Pick<ListenerOptions, "host" | "port" | "tls" | "hosts" | "origins" | "insecure">;
  gateway: Partial<GatewayOptions>;
  /** The servers of the tree; none unless given. */
  tree?: TreeSettings;
  issuers: readonly IssuerConfig[];
  limits: Limits;
  log: Logger;
  /** The console says that what it shows is a demo. */
  isDemo?: boolean;
  /** The file that the console changes; none unless given. */
  configuration?: Configuration;
  /** Bounds of the topic log; its own defaults unless given. */
  topicLog?: Partial<TopicLogTuning>;
  /** The system's unless given. */
  clock?: Clock;
}

export interface Server {
  readonly url: string;
  /** Other servers and profiles of the tree, while it runs. */
  change: RunningTree["change"];
  readonly console: Pick<Console, "isBuilt" | "loginPath">;
  readonly tree: RunningTree;
  /** The rooms, for those who join them in this process. */
  readonly rooms: Rooms;
  readonly devices: OpenDevices;
  /** Opens GET /admin/names; new at every start. */
  readonly namesKey: string;
  /** All addresses it answers at, beside those of WebSockets. */
  readonly routes: readonly Pick<Route, "method" | "path">[];
  /** Clean end: clients told, acks flushed, everything closed. */
  stop(): Promise<void>;
}

/** Where it throws, everything that was opened is closed again. */
export async function startServer(options: ServerOptions): Promise<Server> {
  // What has been opened, to be closed in the opposite order.
  const opened = new AsyncDisposableStack();
  try {
    const { url, tree, ...parts } = await open(options, opened);
    return { url, tree, ...parts, change: tree.change, stop: () => opened.disposeAsync() };
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

interface Opened {
  url: string;
  tree: RunningTree;
  console: Console;
  rooms: Rooms;
  devices: OpenDevices;
  namesKey: string;
  routes: readonly Route[];
}

async function open(options: ServerOptions, opened: AsyncDisposableStack): Promise<Opened> {
  const {
    dataDir,
    listen,
    issuers,
    limits,
    log,
    clock = systemClock,
    tree: treeSettings = noServers,
  } = options;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const metrics = createMetrics();
  const statePath = join(dataDir, "state.db");
  const state = openState(statePath);
  opened.defer(() => state.close());
  const rooms = openDatabase(statePath, { component: "gateway", migrations: gatewayMigrations });
  opened.defer(() => rooms.close());
  const audit = createAudit({
    db: state,
    clock,
    log,
    metrics,
    retention: { recordsMax: limits.auditRecordsMax, keepMs: limits.auditKeepMs },
  });
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
    { ...options.gateway, ownIds: ownIds(treeSettings), servingIds: servingIds(treeSettings) },
  );
  fail = gateway.fail;
  let isDrained = false;
  // Where what follows fails: it would keep the process alive.
  opened.defer(async () => {
    if (!isDrained) await gateway.drain();
  });
  let origin = "";
  const ledger = createByteLedger(limits);
  const turns = createTurns();
  const faces = openRooms({ rooms: gateway, identity, issuers, clock, log, limits, ledger }, opened);
  const ways = { url: () => origin, rooms: roomWay(gateway, treeSettings) };
  const parts = { dataDir, identity, issuers, audit, clock, log, limits, ledger, turns, ...ways };
  const { tree, door, registrar, gates, approvers, signIns, db } = await openTree(
    treeSettings,
    parts,
    opened,
  );
  let listener: Listener | undefined;
  let devices: OpenDevices | undefined;
  opened.defer(async () => {
    // Connections are told before their listener goes.
    isDrained = true;
    await Promise.all([door.drain(), faces.drain()]);
    await gateway.drain();
    await listener?.close({ graceMs: 1_000 });
  });
  const routes = [
    ...gateway.routes,
    ...door.routes,
    ...faces.routes,
    ...registrar.routes,
    ...toolRoutes({ tree, identity, audit }),
    ...createAdminRoutes(tree, identity),
    ...proposalRoutes({ identity, audit, log: topicLog, clock }),
    ...deviceRoutes({ identity, audit, devices: () => devices }),
    ...signInRoutes({ tree, signIns, identity, audit }),
    ...approveRoutes({ tree, gates, identity, approvers, audit, page: approvalPage() }),
    ...gateRoutes({ tree, identity, audit, keepPanic: (isPanic) => keepPanic(db, isPanic) }),
  ];
  const { isDemo = false, configuration } = options;
  const user = localUser();
  const console = createConsole({
    ...{ identity, audit, clock, log, tree, gates, approvers, user, isDemo, configuration },
    routes,
  });
  opened.defer(console.close);
  const namesKey = randomBytes(32).toString("base64url");
  const names = nameRoutes({ key: namesKey, rooms: gateway, tree, clock });
  const all = [...routes, ...console.routes, ...names];
  listener = createListener({ ...listen, limits, log, metrics, turns, ledger, routes: all });
  listener.onUpgrade("/v0/ws", gateway.upgrade);
  listener.onUpgrade("/ax", registrar.upgrade);
  const { url } = await listener.start();
  origin = localUrl(url, listen);
  // Only now it is known where people decide.
  await openTreeRooms(treeSettings, { gateway, tree, clock, log, limits }, opened);
  devices = openDevices(treeSettings.devices, { dataDir, registrar, log, limits }, opened);
  return { url, tree, console, rooms: gateway, devices, namesKey, routes: all };
}
