// A server of the tree as it stands now: state without methods. Verbs on it are in files of their own.
import { isObject, type JsonObject } from "@mcpx/protocol";
import type { Lists } from "./catalogue.ts";
import type { Era } from "./era.ts";
import type { Caller } from "./exchange.ts";
import type { ListKind } from "./fetch-list.ts";
import type { Latency } from "./latency.ts";
import type { Link, LinkTaker, ServerFacts } from "./links/link.ts";

/** What a conversation begins with. */
export interface Opening {
  clientInfo: JsonObject;
  capabilities: JsonObject;
  /** What it was the last time. */
  era: Era | undefined;
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
}

/** One conversation, and what it is kept for. */
export interface LinkEntry {
  readonly key: string;
  readonly opening: Promise<Link>;
  link: Link | undefined;
  /** The one caller it belongs to; shared ones belong to nobody. */
  readonly owner: Caller | undefined;
  inFlight: number;
  /** Monotonic ms. */
  usedAt: number;
  /** Resources watched by subscriptions, with their number. */
  readonly watched: Map<string, number>;
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
