// Composes the server from its parts, and takes it apart again in order.
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import {
  approveRoutes,
  createAdminRoutes,
  gateRoutes,
  type RunningTree,
  signInRoutes,
  toolRoutes,
} from "@mcpx/aggregator";
import { createGateway, type GatewayOptions, type RunningGateway, type TopicLogTuning } from "@mcpx/gateway";
import {
  type Clock,
  createAudit,
  createByteLedger,
  createIdentity,
  createListener,
  createMetrics,
  createTurns,
  type IssuerConfig,
  type ListenerOptions,
  type Logger,
  type NamedPlace,
  pushAudit,
  type Route,
  type SpanStarter,
  systemClock,
} from "@mcpx/host";
import type { Limits } from "@mcpx/protocol";
import type { Rooms } from "../access/local-gateway.ts";
import { localUrl } from "../access/local-url.ts";
import { signingKeyRoutes } from "../access/signing-key-routes.ts";
import { proposalRoutes } from "../audit/proposals/proposal-routes.ts";
import { openAuthorization } from "../authorization/open-authorization.ts";
import { bridgeRoutes } from "../bridges/bridge-routes.ts";
import { bridgePrefixes, type OpenBridges, openBridges } from "../bridges/open-bridges.ts";
import { type Console, type ConsoleOptions, createConsole } from "../console/console-routes.ts";
import { openPush } from "../console/push/open-push.ts";
import type { Configuration } from "../console/servers/configuration.ts";
import { approvalPage } from "../console/static-files.ts";
import { deviceRoutes } from "../devices/device-routes.ts";
import { createDevices, type OpenDevices } from "../devices/open-devices.ts";
import { localUser } from "../files/local-store.ts";
import { watchGates } from "../metrics/gate-metrics.ts";
import { showServers } from "../metrics/server-metrics.ts";
import { showBridges, showStores } from "../metrics/store-metrics.ts";
import { openApiRoutes } from "../openapi/route.ts";
import type { BridgeSettings } from "../settings/bridge-settings.ts";
import type { PushSettings } from "../settings/push-settings.ts";
import { noServers, type TreeSettings } from "../settings/tree-settings.ts";
import { openPostgresStores, type PostgresStoresOptions } from "../stores/open-postgres-stores.ts";
import { openSqliteStores } from "../stores/open-sqlite-stores.ts";
import { chainRoutes } from "./chain-routes.ts";
import { nameRoutes } from "./name-routes.ts";
import type { GateAuthority } from "./open-gates.ts";
import { localRooms, openRoomEndpoints, ownIds, servingIds } from "./open-room-endpoints.ts";
import { openTree } from "./open-tree.ts";
import { openTreeRooms } from "./open-tree-rooms.ts";

export interface StartOptions {
  dataDir: string;
  listen: Pick<ListenerOptions, "host" | "port" | "tls" | "hosts" | "origins" | "insecure">;
  gateway: Partial<GatewayOptions>;
  /** The servers of the tree; none unless given. */
  tree?: TreeSettings;
  /** Rooms on chat platforms; none unless given. */
  bridges?: readonly BridgeSettings[];
  /** Places elsewhere that audit records are sent to; none unless given. */
  auditPush?: readonly NamedPlace[];
  issuers: readonly IssuerConfig[];
  /** Whether clients sign in here, and where documents that describe them may stand. */
  authorization?: { enabled?: boolean; clientDocuments?: boolean; clientHosts?: readonly string[] };
  /** Accounts of companies that log in at the console, and how often their providers are asked; none unless given. */
  logins?: ConsoleOptions["logins"];
  loginAskMs?: number;
  limits: Limits;
  log: Logger;
  /** The console says that what it shows is a demo. */
  isDemo?: boolean;
  /** How devices are told what waits. */
  push?: PushSettings | undefined;
  /** The file that the console changes; none unless given. */
  configuration?: Configuration;
  /** Of OpenTelemetry: where traces of tool calls go; nowhere unless given. */
  tracer?: SpanStarter | undefined;
  /** Bounds of the topic log; its own defaults unless given. */
  topicLog?: Partial<TopicLogTuning>;
  /** State is on PostgreSQL instead of the data directory. */
  store?: Pick<PostgresStoresOptions, "url" | "key">;
  /** The system's unless given. */
  clock?: Clock;
}

export interface StartedGateway {
  readonly url: string;
  /** Other servers and profiles of the tree, while it runs. */
  change: RunningTree["change"];
  readonly console: Pick<Console, "isBuilt" | "loginPath">;
  readonly tree: RunningTree;
  /** The rooms, for those who join them in this process. */
  readonly rooms: Rooms;
  readonly devices: OpenDevices;
  readonly bridges: OpenBridges;
  /** Who approves and what the gates hold, as it was signed. */
  readonly authority: GateAuthority;
  /** Opens GET /admin/names; new at every start. */
  readonly namesKey: string;
  /** All addresses it answers at, beside those of WebSockets. */
  readonly routes: readonly Pick<Route, "method" | "path">[];
  /** Clean end: clients told, acks flushed, everything closed. */
  stop(): Promise<void>;
}

/** Where it throws, everything that was opened is closed again. */
export async function startGateway(options: StartOptions): Promise<StartedGateway> {
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

type Opened = Omit<StartedGateway, "change" | "stop" | "console"> & { console: Console };

/** One stage after the other; what a stage opens, it also defers the end of. */
async function open(options: StartOptions, opened: AsyncDisposableStack): Promise<Opened> {
  const { tree: settings = noServers, listen, isDemo = false, configuration } = options;
  const ground = await openGround(options, opened);
  const { identity, audit, clock, log, limits, listener } = ground;
  const { approvers } = ground.stores;
  const { gateway, topicLog } = await openGateway(options, settings, ground, opened);
  const { enabled: isIssuer = true, ...documents } = options.authorization ?? {};
  const roomEndpoints = openRoomEndpoints(
    { ...ground, rooms: gateway, isIssuer, tracer: options.tracer },
    opened,
  );
  const reach = { url: () => localUrl(listener.address().url, listen), rooms: localRooms(gateway, settings) };
  const { tree, endpoint, registrar, gates, authority, signIns, stores } = await openTree(
    settings,
    { ...ground, ...reach, isIssuer, tracer: options.tracer },
    opened,
  );
  await watchGates({ gates, metrics: ground.metrics, clock });
  showServers(tree, ground.metrics);
  showStores(ground.dataDir, ground.metrics);
  opened.defer(async () => {
    // Connections are told before their listener goes.
    await Promise.all([endpoint.drain(), roomEndpoints.drain()]);
    await gateway.drain();
    await listener.close({ graceMs: 1_000 });
  });
  const devices = createDevices({ ...ground, registrar }, opened);
  let bridges: OpenBridges | undefined;
  const { profiles } = tree;
  const authorization = openAuthorization({ ...ground, user: localUser(), profiles, ...documents }, opened);
  const routes = [
    ...gateway.routes,
    ...endpoint.routes,
    ...roomEndpoints.routes,
    ...registrar.routes,
    ...toolRoutes({ tree, identity, audit }),
    ...createAdminRoutes(tree, identity),
    ...proposalRoutes({ identity, audit, log: topicLog, clock }),
    ...deviceRoutes({
      ...{ identity, audit, devices },
      dir: () => (configuration === undefined ? "." : dirname(configuration.open().path)),
    }),
    ...bridgeRoutes({ identity, audit, clock, authority, bridges: () => bridges }),
    ...signInRoutes({ tree, signIns, identity, audit }),
    ...approveRoutes({
      tree,
      gates,
      identity,
      approvers,
      audit,
      chain: authority.chain,
      page: approvalPage(),
    }),
    ...gateRoutes({
      ...{ tree, identity, audit, endPanic: authority.endPanic },
      async keepPanic(isPanic) {
        await stores.facts.keepPanic(isPanic);
        if (isPanic) authority.beginPanic();
      },
    }),
    ...authorization.adminRoutes,
    ...signingKeyRoutes({ identity, audit }),
    ...chainRoutes({ identity, audit, authority, gates }),
  ];
  const push = openPush(options.push, { ...ground, gates, gateway, own: ownIds(settings) }, opened);
  const console = createConsole({
    ...{ identity, audit, clock, log, tree, gates, approvers, user: localUser(), isDemo, configuration },
    dataDir: options.dataDir,
    ...{ push, routes, logins: options.logins, loginAskMs: options.loginAskMs },
  });
  opened.defer(console.close);
  const namesKey = randomBytes(32).toString("base64url");
  const all = [
    ...routes,
    ...console.routes,
    ...openApiRoutes(),
    ...(isIssuer ? authorization.routes(console.check) : []),
    ...nameRoutes({ key: namesKey, rooms: gateway, tree, clock }),
  ];
  listener.onUpgrade("/v0/ws", gateway.upgrade);
  listener.onUpgrade("/ax", registrar.upgrade);
  const { url } = await listener.start(all);
  // Only now the address at which people decide is known.
  await openTreeRooms(settings, { gateway, tree, clock, log, limits }, opened);
  for (const device of settings.devices) devices.open(device);
  const roomUrl = () => `${settings.gates.url ?? reach.url()}/`;
  bridges = openBridges(
    options.bridges ?? [],
    { ...ground, gateway, own: ownIds(settings), chain: authority.chain, roomUrl },
    opened,
  );
  showBridges(bridges, ground.metrics);
  return { url, tree, console, rooms: gateway, devices, bridges, authority, namesKey, routes: all };
}

/** What every part stands on: the data directory, who somebody is, the record, and a listener that does not listen yet. */
async function openGround(options: StartOptions, opened: AsyncDisposableStack) {
  const { dataDir, listen, issuers, limits, log, clock = systemClock } = options;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const metrics = createMetrics();
  const health = createHealth(log);
  const stores = await (options.store === undefined
    ? openSqliteStores({ dataDir, tuning: options.topicLog, onFailure: health.onFailure }, opened)
    : openPostgresStores({ ...options.store, log, ...health }, opened));
  const retention = { recordsMax: limits.auditRecordsMax, keepMs: limits.auditKeepMs };
  const audit = createAudit({ store: stores.audit, clock, log, metrics, retention });
  opened.defer(() => audit.close());
  const positions = stores.auditPositions;
  const pushed = pushAudit(options.auditPush ?? [], { audit, positions, log, metrics });
  opened.defer(() => pushed.close());
  const identity = await createIdentity({
    store: stores.identity,
    clock,
    log,
    issuers,
    ticketMs: limits.ticketMs,
  });
  opened.defer(() => identity.close());
  const ledger = createByteLedger(limits);
  const turns = createTurns();
  const listener = createListener({ ...listen, limits, log, metrics, turns, ledger });
  return {
    dataDir,
    stores,
    health,
    issuers,
    limits,
    log,
    clock,
    metrics,
    audit,
    identity,
    ledger,
    turns,
    listener,
  };
}

type Ground = Awaited<ReturnType<typeof openGround>>;

/** The rooms, over their log: once that has failed, nothing more is acknowledged. */
async function openGateway(
  options: StartOptions,
  settings: TreeSettings,
  ground: Ground,
  opened: AsyncDisposableStack,
) {
  const { clock, log, audit, metrics, identity, limits, ledger, stores, health } = ground;
  const { topicLog } = stores;
  const gateway = await createGateway(
    { clock, log, audit, metrics, identity, state: stores.rooms, topicLog, limits, ledger },
    {
      ...options.gateway,
      ownIds: ownIds(settings),
      servingIds: servingIds(settings),
      ownPrefixes: bridgePrefixes,
    },
  );
  health.tell(gateway);
  // Also where what follows fails: it would keep the process alive.
  opened.defer(() => gateway.drain());
  return { gateway, topicLog };
}

/** Events of the stores, for a gateway that is made after them. */
function createHealth(log: Logger) {
  let told: Pick<RunningGateway, "fail" | "setCutOff"> | undefined;
  let [hasFailed, isCutOff] = [false, false];
  return {
    onFailure(error: Error) {
      log.fatal({ err: error }, "the store failed; no more envelopes are acknowledged");
      hasFailed = true;
      told?.fail();
    },
    onReach(isAway: boolean) {
      isCutOff = isAway;
      told?.setCutOff(isAway);
    },
    tell(gateway: Pick<RunningGateway, "fail" | "setCutOff">) {
      told = gateway;
      gateway.setCutOff(isCutOff);
      if (hasFailed) gateway.fail();
    },
  };
}
