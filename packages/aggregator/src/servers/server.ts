// A server of the tree as it stands now: state without methods. Verbs on it are in files of their own.

import type { Room } from "@mcpx/client";
import type { Turns } from "@mcpx/host";
import { isObject, type JsonObject } from "@mcpx/protocol";
import type { BudgetAccount } from "../budgets/budget.ts";
import type { Overrides } from "../catalogue/overrides.ts";
import type { Link, LinkTaker, ServerFacts } from "../links/link.ts";
import { type Era, treeExtension } from "../mcp/era.ts";
import type { ListKind } from "../mcp/list-kinds.ts";
import type { FlowLimits } from "../notifications/notification-flow.ts";
import type { CrashLoop } from "./crash-loop.ts";
import type { Latency } from "./latency.ts";
import type { LinkEntry } from "./link-entry.ts";
import type { Lists } from "./list-slots.ts";
import { registeredOf, type ServerOrigin } from "./server-origin.ts";
import type { Setback } from "./setbacks.ts";
import { StderrTail } from "./stderr-tail.ts";
import type { UserServer } from "./users/server-for.ts";

/** What a conversation begins with. */
export interface Opening {
  clientInfo: JsonObject;
  capabilities: JsonObject;
  /** What it was the last time, or has to be. */
  era: Era | undefined;
  /** Nothing else will do. */
  isEraFixed?: boolean | undefined;
  /** For all of it, where it is not as long as usual. */
  timeoutMs?: number | undefined;
  /** Gives it up. */
  signal: AbortSignal;
  /** Whose turn it is to work in this process; a server's output is read in turns too. */
  turns?: Turns | undefined;
  /** The rooms of this process, where it has some. */
  rooms?: LocalRooms | undefined;
}

/** How rooms of this process are joined. */
export interface LocalRooms {
  join(topic: string, id: string): Promise<Room>;
  /** Whether the participant is the gateway's own, and so no peer. */
  isOwn(id: string): boolean;
}

export type OpenServer = (opening: Opening, taker: LinkTaker) => Promise<Link>;

/** What makes a server the one that was meant; another one is not sent what was signed for this one. */
export interface ServerIdentity {
  /** `stdio`, `http`, `registered` and the like. */
  kind: string;
  /** What its operator has configured, or its proof has shown; secrets may be among it, and it is never shown. */
  facts: JsonObject;
}

export interface ServerOptions {
  /** The operator's name for the server. */
  name: string;
  origin: ServerOrigin;
  /** Asked when a call stops at a gate; its name and segment unless given. */
  identity?: (() => ServerIdentity) | undefined;
  /** `undefined` for the one that is mounted at the root. */
  segment: string | undefined;
  /** Begins a conversation with it, whatever it is: a child, an address, a part of ourselves. */
  open: OpenServer;
  /** Its annotations may lower protection. [AX-9.1-2] */
  isTrusted: boolean;
  /** The only one it is spoken to in; found out, and its callers' where it speaks both, unless given. */
  eraWanted?: Era | undefined;
  /** Instead of the latency class's; 0 is as long as the caller waits. */
  callMs?: number | undefined;
  /** How long a list waits for it. */
  listMs: number;
  /** How long a child of it may be of no use to anybody; 0 is for ever. */
  idleMs?: number | undefined;
  /** What the operator has set for single tools. */
  overrides?: Overrides | undefined;
  /** Its tools are not pinned and may change unseen. */
  isUnpinned?: boolean | undefined;
  /** How tools that say nothing of their danger are treated, instead of the tree's own way. */
  unannotated?: "ask" | "allow" | undefined;
  /** How much of what it says unasked is passed on, where that is not as for the others. */
  notifications?: Partial<FlowLimits> | undefined;
  /** What calls into it may use up. [AX-11.4-1] */
  budget?: BudgetAccount | undefined;
}

export interface Degraded {
  /** Wall clock. */
  since: number;
  /** Monotonic ms. */
  until: number;
  why: string;
}

export interface Server extends Readonly<ServerOptions> {
  /** The servers of users who sign in, by user name; empty where all callers share the server. */
  readonly byUser: Map<string, UserServer>;
  readonly links: Map<string, LinkEntry>;
  /** By `capabilityKeyOf` of the callers. */
  readonly lists: Map<string, Lists>;
  /** Known since the first conversation. */
  era: Era | undefined;
  facts: ServerFacts | undefined;
  /** It is modern, and a legacy conversation with it has been opened, too. */
  speaksBoth: boolean;
  /** By principals; see `setbackOf`. */
  readonly setbacks: Map<string, Setback>;
  /** How slow its tools are, by their own names. */
  readonly latencies: Map<string, Latency>;
  /** Why a list of it could not be had. */
  readonly listFaults: Map<ListKind, string>;
  /** Lists that nobody waits for any more, and what it did not do in time; see `mute.ts`. */
  readonly mute: Map<ListKind, "opening" | "listing">;
  /** Asked for in the background. */
  readonly retrying: Set<ListKind>;
  /** How often in a row a list was what it had been when the server said that it had changed. */
  readonly falseAlarms: Map<ListKind, number>;
  /** Why it cannot be reached, and when it may be asked again (monotonic ms). */
  fault: { detail: string; since: number; retryAt: number; failures: number } | undefined;
  /** Its conversation was lost: its tools stay listed for a while, as the lost conversation had them. [AX-13.2-1] */
  degraded: Degraded | undefined;
  /** It was lost, that was told, and it has not come back. */
  isLost: boolean;
  /** What it wrote to stderr, in all its conversations. */
  readonly stderrTail: StderrTail;
  readonly crashLoop: CrashLoop;
  /** How a conversation ended last that nobody wanted to end, and when (wall clock). */
  lastLoss: { why: string; at: number } | undefined;
  /** It is out of the tree: nothing is kept of it any more. */
  isRetired: boolean;
}

export function createServer(options: ServerOptions): Server {
  return {
    ...options,
    byUser: new Map(),
    links: new Map(),
    lists: new Map(),
    listFaults: new Map(),
    mute: new Map(),
    retrying: new Set(),
    falseAlarms: new Map(),
    latencies: new Map(),
    era: undefined,
    facts: undefined,
    fault: undefined,
    degraded: undefined,
    isLost: false,
    stderrTail: new StderrTail(),
    crashLoop: { deaths: [], trips: 0 },
    speaksBoth: false,
    setbacks: new Map(),
    lastLoss: undefined,
    isRetired: false,
  };
}

/** Lost, and not yet for too long. */
export function isDegraded({ degraded }: Pick<Server, "degraded">, now: number): boolean {
  return degraded !== undefined && now < degraded.until;
}

/** In which eras it is spoken to, as far as is known. */
export function erasOf({ era, speaksBoth }: Pick<Server, "era" | "speaksBoth">): Era | "both" | undefined {
  return era === "modern" && speaksBoth ? "both" : era;
}

/** It is a tree itself: its names may be dotted, and it understands routes. [AX-4.3-1] */
export function isTree(server: Pick<Server, "facts" | "origin">): boolean {
  const registered = registeredOf(server);
  if (registered !== undefined) return registered.isTree;
  const extensions = server.facts?.capabilities.extensions;
  return isObject(extensions) && isObject(extensions[treeExtension]);
}

/** The name resources of a server stand under for permissions. */
export function resourcesName({ segment }: Pick<Server, "segment">): string {
  return segment === undefined ? "resources" : `${segment}.resources`;
}
