// Puts the rooms together from the parts the host gives.
import type { DatabaseSync } from "node:sqlite";
import type { Duplex } from "node:stream";
import type { Audit, Clock, Identity, Logger, Metrics, Route, UpgradeRequest } from "@mcpx/host";
import { closeCodes, type Limits } from "@mcpx/protocol";
import { connect } from "./connect.ts";
import { drain } from "./drain.ts";
import { expel } from "./expel.ts";
import { createGatewayMetrics } from "./gateway-metrics.ts";
import { defaultOptions, type Gateway, type GatewayOptions } from "./gateway-state.ts";
import { KnownParticipants } from "./known-participants.ts";
import { LevelDecisions } from "./level-decisions.ts";
import { Rates } from "./rates.ts";
import { gatewayRoutes } from "./routes.ts";
import { sweep } from "./sweep.ts";
import type { TopicLog } from "./topic-log.ts";
import { createMemoryTopicLog } from "./topic-log-memory.ts";
import { trimTopics } from "./trim-topics.ts";

export interface GatewayParts {
  clock: Clock;
  log: Logger;
  audit: Audit;
  metrics: Metrics;
  identity: Identity;
  /** The state database, with `gatewayMigrations` applied. */
  state: DatabaseSync;
  topicLog: TopicLog;
  limits: Limits;
}

export interface RunningGateway {
  readonly routes: Route[];
  /** The handler of `GET /v0/ws`. */
  upgrade(request: UpgradeRequest, duplex: Duplex, head: Buffer): Promise<void>;
  /** The store failed: not ready any more. */
  fail(): void;
  /** Tells everybody, finishes what was begun, closes. */
  drain(): Promise<void>;
}

const sweepMs = 1_000;
const trimTicks = 60;

export async function createGateway(
  parts: GatewayParts,
  options: Partial<GatewayOptions>,
): Promise<RunningGateway> {
  const { clock, log, audit, metrics, identity, state, topicLog, limits } = parts;
  const gateway: Gateway = {
    options: { ...defaultOptions, ...options },
    limits,
    clock,
    log,
    audit,
    metrics: createGatewayMetrics(metrics),
    identity,
    durableLog: topicLog,
    ephemeralLog: createMemoryTopicLog({ retention: { count: limits.duplicateWindow } }),
    levelDecisions: new LevelDecisions(state),
    participants: new KnownParticipants(state),
    rooms: new Map(),
    topics: new Set((await topicLog.topics()).map(({ name }) => name)),
    rates: new Rates(limits),
    handshakes: { tokens: limits.handshakesPerSecond, atMs: clock.monotonic() },
    connections: 0,
    isDraining: false,
    hasFailed: false,
  };
  const forgetRevoked = identity.revocations.onRevoked((jti) => closeRevoked(gateway, jti));
  let tick = 0;
  const timer = setInterval(() => {
    tick += 1;
    try {
      sweep(gateway, tick);
    } catch (error) {
      log.error({ err: error }, "sweep failed");
    }
    if (tick % trimTicks === 0) {
      trimTopics(gateway).catch((error: unknown) => log.error({ err: error }, "trimming failed"));
    }
  }, sweepMs);
  return {
    routes: gatewayRoutes(gateway, metrics),
    upgrade: (request, duplex, head) => connect(gateway, request, duplex, head),
    fail: () => {
      gateway.hasFailed = true;
    },
    drain: async () => {
      await drain(gateway);
      clearInterval(timer);
      forgetRevoked();
      gateway.participants.flush();
    },
  };
}

function closeRevoked(gateway: Gateway, jti: string): void {
  for (const room of gateway.rooms.values()) {
    for (const member of room.members.values()) {
      if (member.principal.jti === jti) expel(gateway, member, closeCodes.unauthorised, "token_revoked");
    }
  }
}
