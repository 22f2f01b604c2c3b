// A server of the tree as it stands now: state without methods. Verbs on it are in files of their own.
import { isObject, type JsonObject } from "@mcpx/protocol";
import type { Lists } from "./catalogue.ts";
import type { CrashLoop } from "./crash-loop.ts";
import type { Era } from "./era.ts";
import type { Caller } from "./exchange.ts";
import type { ListKind } from "./fetch-list.ts";
import type { Latency } from "./latency.ts";
import type { Link, LinkTaker, ServerFacts } from "./links/link.ts";
import type { Overrides } from "./overrides.ts";
import { Remarks } from "./remarks.ts";

/** What a conversation begins with. */
export interface Opening {
  clientInfo: JsonObject;
  capabilities: JsonObject;
  /** What it was the last time. */
  era: Era | undefined;
  /** Gives it up. */
  signal: AbortSignal;
}

export type OpenServer = (opening: Opening, taker: LinkTaker) => Promise<Link>;

export interface ServerOptions {
  /** As the operator calls it. */
  name: string;
  /** `undefined` for the one that is mounted at the root. */
  segment: string | undefined;
  /** Begins a conversation with it, whatever it is: a child, an address, a part of ourselves. */
  open: OpenServer;
  /** Its annotations may lower protection. [AX-9.1-2] */
  isTrusted: boolean;
  /** Instead of the latency class's; 0 is as long as the caller waits. */
  callMs?: number | undefined;
  /** How long a list waits for it. */
  listMs: number;
  /** How long a child of it may be of no use to anybody; 0 is for ever. */
  idleMs?: number | undefined;
  /** What the operator has set for single tools. */
  overrides?: Overrides | undefined;
  /** Its tools may change as they like. */
  isUnpinned?: boolean | undefined;
}

/** One conversation, and what it is kept for. */
export interface LinkEntry {
  readonly key: string;
  readonly opening: Promise<Link>;
  link: Link | undefined;
  /** The one caller it belongs to; shared ones belong to nobody. */
  owner: Caller | undefined;
  inFlight: number;
  /** Monotonic ms. */
  usedAt: number;
  /** Since when it is open. */
  openedAt: number;
  /** What the server said beside the protocol in this conversation. */
  readonly said: Remarks;
}

export interface Server extends Readonly<ServerOptions> {
  readonly links: Map<string, LinkEntry>;
  /** By what the callers can; see `shapeOf`. */
  readonly lists: Map<string, Lists>;
  /** Known since the first conversation. */
  era: Era | undefined;
  facts: ServerFacts | undefined;
  /** How slow its tools are, by their own names. */
  readonly latencies: Map<string, Latency>;
  /** Why a list of it could not be had. */
  readonly listFaults: Map<ListKind, string>;
  /** Why it cannot be reached, and when it may be asked again (monotonic ms). */
  fault: { detail: string; since: number; retryAt: number; failures: number } | undefined;
  /** What it said beside the protocol, in all its conversations. */
  readonly remarks: Remarks;
  readonly crashLoop: CrashLoop;
  /** How a conversation ended last that nobody wanted to end, and when (wall clock). */
  lastLoss: { why: string; at: number } | undefined;
}

export function createServer(options: ServerOptions): Server {
  return {
    ...options,
    links: new Map(),
    lists: new Map(),
    listFaults: new Map(),
    latencies: new Map(),
    era: undefined,
    facts: undefined,
    fault: undefined,
    remarks: new Remarks(),
    crashLoop: { deaths: [], trips: 0 },
    lastLoss: undefined,
  };
}

const treeExtension = "org.mcpax/aggregator";

/** It is a tree itself: its names may be dotted, and it understands routes. [AX-4.3-1] */
export function isTree({ facts }: Pick<Server, "facts">): boolean {
  const extensions = facts?.capabilities.extensions;
  return isObject(extensions) && isObject(extensions[treeExtension]);
}

/** The name resources of a server stand under for permissions. */
export function resourcesName({ segment }: Pick<Server, "segment">): string {
  return segment === undefined ? "resources" : `${segment}.resources`;
}
