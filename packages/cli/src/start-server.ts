// Composes the server from its parts, and takes it apart again in order.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createGateway, createSqliteTopicLog, type GatewayOptions, gatewayMigrations } from "@mcpx/gateway";
import {
  createAudit,
  createIdentity,
  createListener,
  createMetrics,
  type IssuerConfig,
  type ListenerOptions,
  type Logger,
  openDatabase,
  openState,
  systemClock,
} from "@mcpx/host";
import type { Limits } from "@mcpx/protocol";

export interface ServerOptions {
  dataDir: string;
  listen: Pick<ListenerOptions, "host" | "port" | "tls" | "hosts" | "origins" | "insecure">;
  gateway: Partial<GatewayOptions>;
  issuers: readonly IssuerConfig[];
  limits: Limits;
  log: Logger;
}

export interface Server {
  readonly url: string;
  /** Clean end: clients told, acks flushed, everything closed. */
  stop(): Promise<void>;
}

export async function startServer({
  dataDir,
  listen,
  gateway: options,
  issuers,
  limits,
  log,
}: ServerOptions): Promise<Server> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const clock = systemClock;
  const metrics = createMetrics();
  const statePath = join(dataDir, "state.db");
  const state = openState(statePath);
  const rooms = openDatabase(statePath, { component: "gateway", migrations: gatewayMigrations });
  const audit = createAudit({ db: state, clock, log, metrics });
  const identity = createIdentity({ db: state, clock, log, issuers, ticketMs: limits.ticketMs });
  let fail = (): void => undefined;
  const topicLog = await createSqliteTopicLog({
    path: join(dataDir, "topics.db"),
    onFailure: (error) => {
      log.fatal({ err: error }, "the topic log failed; nothing more is acknowledged");
      fail();
    },
  });
  const gateway = await createGateway(
    { clock, log, audit, metrics, identity, state: rooms, topicLog, limits },
    options,
  );
  fail = gateway.fail;
  const listener = createListener({
    ...listen,
    limits,
    log,
    metrics,
    routes: gateway.routes,
  });
  listener.onUpgrade("/v0/ws", gateway.upgrade);
  const { url } = await listener.start();
  return {
    url,
    async stop() {
      await gateway.drain();
      await listener.close({ graceMs: 1_000 });
      await topicLog.close();
      identity.close();
      audit.close();
      rooms.close();
      state.close();
    },
  };
}
