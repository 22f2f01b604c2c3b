// The state of a room and of its members. Verbs live in files of their own: join, receive, deliver, leave…
import type { Hold, Principal, PublicJwk } from "@mcpx/host";
import type { Level, Protocol } from "@mcpx/protocol";
import type { ToolAccessOption } from "../tool-access/tool-access.ts";
import type { Entry, TopicLog } from "../topic-log/topic-log.ts";
import type { RoomSocket } from "../transports/socket.ts";
import { EndedProposals } from "./ended-proposals.ts";
import type { Sender } from "./senders.ts";

/** What others are told of a participant. [X0-4.2-1] */
export interface Participant {
  id: string;
  name?: string;
  kind?: string;
  /** It is the gateway's own tree, behind which no token stands. Only the gateway says so. */
  own?: true;
  mcp?: { version: string };
  key?: PublicJwk;
  status?: { status: string; text?: string };
}

/** One live connection of a participant to one room. */
export interface Member {
  readonly room: Room;
  readonly connectionId: string;
  /** Its place among the members: the participant's id, or for a virtual connection one that is nobody's id. */
  readonly key: string;
  readonly participant: Participant;
  readonly socket: RoomSocket;
  readonly connectedAt: number;
  readonly wantsSeq: boolean;
  readonly wantsEcho: boolean;
  /** The token behind the connection; a refresh replaces it. */
  principal: Principal;
  level: Level;
  protocol: Protocol;
  /** Where the client named no protocol at connect, its first envelope does. [X0-10-2] */
  isProtocolFixed: boolean;
  /** The last seq this connection was given. */
  position: number;
  /** It is still being given what it missed; live delivery leaves it out. */
  isCatchingUp: boolean;
  /** Envelopes are handled one after the other, so that slow checks never break the sender's order. */
  tail: Promise<void>;
  waiting: number;
  /** What has come from it and is not done, in bytes of memory; held for its principal where it is much. */
  backlog: { bytes: number; hold: Hold | undefined };
  faults: { count: number; sinceMs: number };
  wasWarned: boolean;
  hasLeft: boolean;
}

export interface Room {
  readonly topic: string;
  readonly log: TopicLog;
  readonly hasHistory: boolean;
  /** Whether its calls are checked before their owners see them. [AC-6-1] */
  readonly toolAccess: ToolAccessOption;
  /** Kept where calls are checked. */
  readonly endedProposals: EndedProposals;
  /** By `key`: one own socket for each participant [X0-6-1], and any number of virtual connections. */
  readonly members: Map<string, Member>;
  /** Which virtual connection said what, by envelope id; the newest only. */
  readonly voices: Map<string, string>;
  /** Who has asked those that serve here, by envelope id; the newest only. Absent where nobody does. */
  senders: Map<string, Sender> | undefined;
  /** Everything up to here was handed to the members. */
  deliveredSeq: number;
  /** Envelopes on their way to the log, and newcomers on their way in: the room is not forgotten meanwhile. */
  pending: number;
  /** Committed, waiting for this tick's delivery. */
  outbox: Said[];
}

/** An entry on its way to the members, and the `key` of the one who is to have the ack. */
export interface Said extends Entry {
  by: string;
}

export function createRoom(
  topic: string,
  log: TopicLog,
  hasHistory: boolean,
  lastSeq: number,
  toolAccess: ToolAccessOption = "off",
): Room {
  return {
    topic,
    log,
    hasHistory,
    toolAccess,
    endedProposals: new EndedProposals(lastSeq),
    members: new Map(),
    voices: new Map(),
    senders: undefined,
    deliveredSeq: lastSeq,
    pending: 0,
    outbox: [],
  };
}

/** A participant as presence, the welcome and REST show it. [X0-5.2-4] */
export function listed(member: Member): Participant & { privilege: Level } {
  return { ...member.participant, privilege: member.level };
}
