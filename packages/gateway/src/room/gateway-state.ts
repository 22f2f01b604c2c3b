// Everything the verbs of the gateway share: parts, options, rooms.
import type { Audit, ByteLedger, Clock, Identity, Logger } from "@mcpx/host";
import type { Level, LevelRights, LevelTable, Limits } from "@mcpx/protocol";
import type { Edge } from "../cluster/edge.ts";
import type { Neighbours } from "../cluster/neighbours.ts";
import type { NewsFeed } from "../cluster/news.ts";
import type { Ownership } from "../cluster/ownership.ts";
import type { Handshakes } from "../joining/handshakes.ts";
import type { TopicMakerStore } from "../state/room-state.ts";
import type { ToolAccess, ToolAccessOption } from "../tool-access/tool-access.ts";
import type { Retention, TopicLog } from "../topic-log/topic-log.ts";
import type { GatewayMetrics } from "./gateway-metrics.ts";
import type { KnownParticipants } from "./known-participants.ts";
import type { LevelDecisions } from "./level-decisions.ts";
import type { OpenProposal, OpenProposals } from "./open-proposals.ts";
import type { Places } from "./places.ts";
import type { Rates } from "./rates.ts";
import type { Room } from "./room.ts";

export interface TopicOptions {
  /** Whether envelopes are kept; without, nothing of the topic touches the disk. [X0-5.3-5] */
  history: boolean;
  retention: Retention;
  /** Whether calls are checked before their owners see them; a policy is one for everybody's tools. [AC-6-1] */
  toolAccess: ToolAccessOption;
}

export type ProposalListener = (proposal: Pick<OpenProposal, "topic" | "proposer">) => void;

export interface GatewayOptions {
  /** [X1-6.1-1] [X1-6.2-1] */
  mode: "mixed" | "secure" | "open";
  /** Known identities and the level they get where their token names none. [X1-5.1-1] */
  identities: Readonly<Record<string, { level: Level }>>;
  /** Rights an operator has assigned, where they differ from the built-in table. [PL-4-1] */
  levels: Readonly<Partial<Record<Level, LevelRights>>>;
  /** By exact name or glob; the exact name wins, then the longest glob. */
  topics: Readonly<Record<string, Partial<TopicOptions>>>;
  /** Whether joining makes a topic, or only configuration does. [X0-2.2-1] */
  createTopics: "on-join" | "configured";
  /** What a second connection of one participant does. [X0-6-1] */
  takeover: "replace" | "refuse";
  /** Interval of presence heartbeats; 0 is off. [X0-4.2-2] */
  presenceHeartbeatMs: number;
  /** Whether a room is told of violations. [X1-4.4.2-1] */
  announceViolations: boolean;
  /** What is kept for old peers. [AC-11-1] */
  compat: { toolsRequest: boolean };
  /** Ids of participants that this process makes itself: no token enters with them. */
  ownIds: readonly string[];
  /** Those of them that answer others. */
  servingIds: readonly string[];
  /** Beginnings of ids that this process gives to people itself, in lower case: no token enters with them either. */
  ownPrefixes: readonly string[];
}

export const defaultOptions: GatewayOptions = {
  mode: "mixed",
  identities: {},
  levels: {},
  topics: {},
  createTopics: "on-join",
  takeover: "replace",
  presenceHeartbeatMs: 0,
  announceViolations: false,
  compat: { toolsRequest: false },
  ownIds: [],
  servingIds: [],
  ownPrefixes: [],
};

/** At least what resume promises: 10 000 envelopes. */
export const defaultTopic: TopicOptions = { history: true, retention: { count: 100_000 }, toolAccess: "off" };

export interface Gateway {
  readonly options: GatewayOptions;
  readonly limits: Limits;
  /** What each level may send here. */
  readonly levelTable: LevelTable;
  readonly clock: Clock;
  readonly log: Logger;
  readonly audit: Audit;
  readonly metrics: GatewayMetrics;
  readonly identity: Identity;
  readonly durableLog: TopicLog;
  /** For topics that keep no history. */
  readonly ephemeralLog: TopicLog;
  readonly levelDecisions: LevelDecisions;
  readonly participants: KnownParticipants;
  readonly toolAccess: ToolAccess;
  /** The other gateways, where several share the store. */
  readonly neighbours?: Neighbours | undefined;
  /** What one gateway decides and all act on. */
  readonly news?: NewsFeed | undefined;
  /** Where topics are served, where several gateways share the store. */
  readonly ownership?: Ownership | undefined;
  /** Connections that begin here, to rooms that are served at a peer. */
  readonly edge?: Edge | undefined;
  /** Open rooms: those with members, or with envelopes on their way. */
  readonly rooms: Map<string, Room>;
  /** Every topic there is, open or not. */
  readonly topics: Set<string>;
  readonly openProposals: OpenProposals;
  readonly proposalListeners: Set<ProposalListener>;
  readonly rates: Rates;
  /** Memory that is held for principals, here and elsewhere. */
  readonly ledger: ByteLedger;
  readonly handshakes: Handshakes;
  readonly places: Places;
  readonly topicMakers: TopicMakerStore;
  /** Live connections, those still shaking hands included. */
  connections: number;
  isDraining: boolean;
  /** The store failed; nothing more is acknowledged. */
  hasFailed: boolean;
  /** The store cannot be reached; nothing is acknowledged until it can. */
  isCutOff: boolean;
}
