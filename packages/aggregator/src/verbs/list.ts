// The four lists: merged, in a fixed order, page after page, each caller seeing what it may use. [AX-5.1-1]
import {
  believedKey,
  type Capability,
  capabilityKey,
  isIrreversible,
  isObject,
  type JsonObject,
  McpxError,
  numberOf,
} from "@mcpx/protocol";
import { withPage } from "../catalogue/app-tools.ts";
import { isOwnOf, mayUse } from "../catalogue/authorise.ts";
import type { Entry } from "../catalogue/catalogue.ts";
import { type Directory, directoryFor, shownName } from "../catalogue/directory.ts";
import type { Caller, Exchange } from "../mcp/exchange.ts";
import type { ListKind } from "../mcp/list-kinds.ts";
import { resourcesName } from "../servers/server.ts";
import { shownAnnotation, shownCapability } from "../servers/tool-latency.ts";
import type { TreeState } from "../servers/tree-state.ts";

const keys = {
  tools: "tools",
  prompts: "prompts",
  resources: "resources",
  templates: "resourceTemplates",
} as const;

/** Many clients ask for the first page only. */
const pageMax = 1_000;

export async function list(
  state: TreeState,
  { caller, params, listWaitMs }: Exchange,
  kind: ListKind,
): Promise<JsonObject> {
  const after = readCursor(params.cursor);
  const directory = await directoryFor(state, kind, caller, listWaitMs);
  const { page, isLast } = takePage(directory.entries, after, (entry) => mayList(state, caller, kind, entry));
  const last = page.at(-1);
  return {
    resultType: "complete",
    [keys[kind]]: page.map((entry) => render(directory, kind, entry, caller)),
    ...(!isLast && last !== undefined && { nextCursor: writeCursor(last.canonical) }),
    ttlMs: remainingMs(state, directory),
    // It depends on the token. [DESIGN: merged, private if any is]
    cacheScope: "private",
  };
}

export function mayList(
  state: TreeState,
  caller: Caller,
  kind: ListKind,
  { server, canonical }: Entry,
): boolean {
  if (isOwnOf(caller, server)) return false;
  const isNamed = kind === "tools" || kind === "prompts";
  return mayUse(state, caller, isNamed ? canonical : resourcesName(server));
}

function takePage(
  entries: readonly Entry[],
  after: string | undefined,
  isWanted: (entry: Entry) => boolean,
): { page: Entry[]; isLast: boolean } {
  const page: Entry[] = [];
  for (let i = after === undefined ? 0 : firstAfter(entries, after); i < entries.length; i += 1) {
    const entry = entries[i] as Entry;
    if (!isWanted(entry)) continue;
    if (page.length === pageMax) return { page, isLast: false };
    page.push(entry);
  }
  return { page, isLast: true };
}

/** What came or went between two pages neither repeats nor hides the rest. */
function firstAfter(entries: readonly Entry[], canonical: string): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle] as Entry).canonical <= canonical) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The entry as a client of this dialect gets it. */
export function render(directory: Directory, kind: ListKind, entry: Entry, caller: Caller): JsonObject {
  const { item, canonical } = entry;
  const capability = shownCapability(entry);
  if (kind === "resources") return { ...item, uri: canonical };
  if (kind === "templates") return { ...item, uriTemplate: canonical };
  const name = shownName(directory, entry, caller);
  if (capability === undefined) return { ...item, name };
  return { ...item, name, _meta: toolMeta(entry, capability) };
}

/** The annotation goes up as it is, beside it what we believe, and the number of trees it has passed. [AX-9.2-3] */
function toolMeta(entry: Entry, believed: Readonly<Capability>): JsonObject {
  const own = isObject(entry.item._meta) ? withPage(entry.item._meta, entry.server.segment) : {};
  const hops = numberOf(own["x-mcpax-hops"]) ?? 0;
  return {
    ...own,
    [capabilityKey]: shownAnnotation(entry, believed),
    [believedKey]: believed,
    "x-mcpax-hops": hops + 1,
    ...(isIrreversible(believed) && { "x-mcpax-safety": "irreversible_mutable" }),
  };
}

function remainingMs(state: TreeState, { parts }: Directory): number {
  const now = state.clock.monotonic();
  const left = parts.map((part) => Math.floor((part?.goodUntil ?? now) - now));
  return Math.max(0, Math.min(60_000, ...left));
}

function readCursor(cursor: unknown): string | undefined {
  if (cursor === undefined) return undefined;
  const text = typeof cursor === "string" ? Buffer.from(cursor, "base64url").toString() : "";
  if (!text.startsWith(">")) throw new McpxError("bad_params", "params.cursor was not given by this gateway");
  return text.slice(1);
}

export function writeCursor(canonical: string): string {
  return Buffer.from(`>${canonical}`).toString("base64url");
}
