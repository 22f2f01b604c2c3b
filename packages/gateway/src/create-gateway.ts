// Puts the rooms together from the parts the host gives.
import {
  type Audit,
  type ByteLedger,
  type Clock,
  createByteLedger,
  type Identity,
  type Logger,
  type Metrics,
  type PeerHandler,
  type Principal,
  type Route,
  type UpgradeHandler,
} from "@mcpx/host";
import { closeCodes, type Limits, withAssignedRights } from "@mcpx/protocol";
import { createEdge } from "./cluster/edge.ts";
import type { Neighbours } from "./cluster/neighbours.ts";
import type { NewsFeed } from "./cluster/news.ts";
import type { Ownership } from "./cluster/ownership.ts";
import { applyDecision } from "./delivery/apply-decision.ts";
import { handOver } from "./delivery/hand-over.ts";
import { expel } from "./delivery/leave.ts";
import { createPeerAnswers } from "./edges/answer-peers.ts";
import { drain } from "./ending/drain.ts";
import { sweep } from "./ending/sweep.ts";
import { trimTopics } from "./ending/trim-topics.ts";
import { gatewayRoutes } from "./gateway-routes.ts";
import { connect } from "./joining/connect.ts";
import { Handshakes } from "./joining/handshakes.ts";
import { enter, pastOf, type VirtualEnd } from "./rest/enter.ts";
import { createGatewayMetrics } from "./room/gateway-metrics.ts";
import {
  defaultOptions,
  type Gateway,
  type GatewayOptions,
  type ProposalListener,
} from "./room/gateway-state.ts";
import { KnownParticipants } from "./room/known-participants.ts";
import { LevelDecisions } from "./room/level-decisions.ts";
import { OpenProposals } from "./room/open-proposals.ts";
import { createPlaces } from "./room/places.ts";
import { presentMembers } from "./room/present.ts";
import { Rates } from "./room/rates.ts";
import { principalsIn, sendersOf } from "./room/senders.ts";
import { countMade } from "./room/topic-makers.ts";
import type { LevelDecision, RoomState } from "./state/room-state.ts";
import { ToolAccess } from "./tool-access/tool-access.ts";
import { createMemoryTopicLog } from "./topic-log/memory.ts";
import type { TopicLog } from "./topic-log/topic-log.ts";

export interface GatewayParts {
  clock: Clock;
  log: Logger;
  audit: Audit;
  metrics: Metrics;
  identity: Identity;
  state: RoomState;
  topicLog: TopicLog;
  /** Where several gateways share the store. */
  cluster?: { neighbours: Neighbours; ownership: Ownership; news: NewsFeed } | undefined;
  limits: Limits;
  /** The memory that is held for principals; one of its own unless given. */
  ledger?: ByteLedger | undefined;
}

export interface RunningGateway {
  readonly routes: Route[];
  /** The handler of `GET /v0/ws`. */
  upgrade: UpgradeHandler;
  /**
   * A connection made in this process, beside the participant's own: `query` is that of `GET /v0/ws`, the principal
   * stands for a ticket. Rejects with the error that address would answer.
   */
  enter(principal: Principal, query: URLSearchParams): Promise<VirtualEnd>;
  /** The body of `GET /v0/topics/{topic}/history` for the same principal. */
  history(principal: Principal, topic: string, query: URLSearchParams): Promise<string>;
  /** The names of all topics. */
  topics(): Promise<string[]>;
  /** The ids of those who are in a room now. */
  presentIn(topic: string): string[];
  /** Of every connection a participant has to a room, with the key it has shown there. */
  principalsOf(topic: string, id: string): Principal[];
  /** The same of the moment at which they published this envelope, to somebody who serves. */
  sendersOf(topic: string, id: string, envelopeId: string): readonly Principal[];
  /** Calls back for every proposal once it is in its room's log; returns how to stop that. */
  onProposal(listener: ProposalListener): () => void;
  /** What peers may ask of this gateway; absent where it has none. */
  readonly forPeers?: PeerHandler;
  /** Its lease has ended: everybody comes back, to whichever gateway serves their topic now. */
  loseTopics(): void;
  /** The store failed: not ready any more. */
  fail(): void;
  /** The store cannot be reached: not ready until it can. */
  setCutOff(isCutOff: boolean): void;
  /** Tells everybody, finishes what was begun, closes. */
  drain(): Promise<void>;
}

/** What topics without history may hold together for those who send something again. */
const ephemeralBytesMax = 67_108_864;
const sweepMs = 1_000;
const trimTicks = 60;

export async function createGateway(
  parts: GatewayParts,
  options: Partial<GatewayOptions>,
): Promise<RunningGateway> {
  const { clock, log, audit, identity, state, topicLog, limits } = parts;
  const { neighbours, ownership, news } = parts.cluster ?? {};
  const metrics = createGatewayMetrics(parts.metrics);
  const topics = new Set((await topicLog.topics()).map(({ name }) => name));
  const gateway: Gateway = {
    options: { ...defaultOptions, ...options },
    limits,
    levelTable: withAssignedRights(options.levels ?? {}),
    clock,
    log,
    audit,
    metrics,
    identity,
    durableLog: topicLog,
    neighbours,
    news,
    ownership,
    edge: ownership && createEdge({ limits, clock, metrics }),
    ephemeralLog: createMemoryTopicLog({
      retention: { count: limits.duplicateWindow },
      bytesMax: ephemeralBytesMax,
    }),
    levelDecisions: await LevelDecisions.open(state.decisions),
    participants: await KnownParticipants.open(state.participants, limits.participantsMax),
    toolAccess: new ToolAccess(state.revoked),
    rooms: new Map(),
    topics,
    openProposals: new OpenProposals(),
    proposalListeners: new Set(),
    rates: new Rates(limits),
    ledger: parts.ledger ?? createByteLedger(limits),
    handshakes: new Handshakes(limits.handshakesPerSecond),
    places: createPlaces(await countMade(state.topicMakers, topics)),
    topicMakers: state.topicMakers,
    connections: 0,
    isDraining: false,
    hasFailed: false,
    isCutOff: false,
  };
  news?.on("level", (body) => takeDecision(gateway, body as LevelDecision & { by: string }));
  const forgetRevoked = identity.revocations.onRevoked((jti) => closeRevoked(gateway, jti));
  let tick = 0;
  const timer = setInterval(() => {
    tick += 1;
    try {
      sweep(gateway, tick);
    } catch (error) {
      log.error({ err: error }, "sweep of rooms failed");
    }
    if (tick % trimTicks === 0) {
      trimTopics(gateway).catch((error: unknown) =>
        log.error({ err: error }, "could not trim the topic log"),
      );
    }
  }, sweepMs);
  return {
    routes: gatewayRoutes(gateway, parts.metrics),
    upgrade: (request, duplex, head, share) => connect(gateway, request, duplex, head, share),
    enter: (principal, query) => enter(gateway, principal, query),
    history: (principal, topic, query) => pastOf(gateway, principal, topic, query),
    topics: async () => (await gateway.durableLog.topics()).map(({ name }) => name),
    presentIn: (topic) => {
      const room = gateway.rooms.get(topic);
      return room === undefined ? [] : presentMembers(room).map(({ participant }) => participant.id);
    },
    principalsOf: (topic, id) => principalsIn(gateway.rooms.get(topic), id),
    sendersOf: (topic, id, envelopeId) => sendersOf(gateway, topic, id, envelopeId),
    onProposal: (listener) => {
      gateway.proposalListeners.add(listener);
      return () => gateway.proposalListeners.delete(listener);
    },
    ...(gateway.edge && { forPeers: createPeerAnswers(gateway, gateway.edge) }),
    loseTopics: () => {
      ownership?.loseAll();
      for (const room of [...gateway.rooms.values()]) handOver(gateway, room);
    },
    fail: () => {
      gateway.hasFailed = true;
    },
    setCutOff: (isCutOff) => {
      gateway.isCutOff = isCutOff;
    },
    drain: async () => {
      await drain(gateway);
      clearInterval(timer);
      forgetRevoked();
      await gateway.participants
        .flush()
        .catch((error: unknown) =>
          log.error({ err: error }, "could not store which participants were in which rooms"),
        );
    },
  };
}

/** An admin's decision at another gateway. */
function takeDecision(gateway: Gateway, decision: LevelDecision & { by: string }): number {
  gateway.levelDecisions.take(decision);
  return applyDecision(gateway, decision);
}

function closeRevoked(gateway: Gateway, jti: string): void {
  for (const room of gateway.rooms.values()) {
    for (const member of room.members.values()) {
      if (member.principal.jti === jti) expel(gateway, member, closeCodes.unauthorised, "token_revoked");
    }
  }
}
