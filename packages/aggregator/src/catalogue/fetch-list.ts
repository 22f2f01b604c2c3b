// Reads one whole list from a server, page after page, within bounds: a server that never ends its pages, or sends the
// same cursor again, is stopped.

import { isObject, type JsonObject, McpxError, numberOf, stringBytesOf } from "@mcpx/protocol";
import type { Link } from "../links/link.ts";
import { ownRequest } from "../links/own-request.ts";
import type { Caller } from "../mcp/exchange.ts";
import type { ListKind } from "../mcp/list-kinds.ts";
import { RpcError, rpcCodes } from "../mcp/rpc-error.ts";
import { awaitingFault, isAwaiting } from "../servers/awaited-authorisation.ts";
import { ownEntry } from "../servers/link-entry.ts";
import { entryFor } from "../servers/link-for.ts";
import type { ListCapacity } from "../servers/list-capacity.ts";
import type { Server } from "../servers/server.ts";
import { registeredOf } from "../servers/server-origin.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { bytesOf, itemDepthMax } from "./item-size.ts";

export interface FetchedList {
  items: JsonObject[];
  /** What could not be taken, for people. */
  leftOut: string[];
  /** Why the rest of it is not here, where it was too much. */
  cut: string | undefined;
  ttlMs: number;
  isPrivate: boolean;
}

const methods = {
  tools: { method: "tools/list", key: "tools", capability: "tools" },
  prompts: { method: "prompts/list", key: "prompts", capability: "prompts" },
  resources: { method: "resources/list", key: "resources", capability: "resources" },
  templates: { method: "resources/templates/list", key: "resourceTemplates", capability: "resources" },
} as const;

const pagesMax = 1_000;
const itemsMax = 20_000;
/** Of memory; a description of 1 MiB is no reason to leave a tool out. */
const itemBytesMax = 4 * 1_048_576;
/** What an item takes beside itself: an entry, its place in two tables, and its names there. */
const entryBytes = 512;
const entryNames = 3;
/** What a list reads of items that it leaves out must end somewhere, too. */
const unusedBytesMax = 4 * itemBytesMax;
/** For servers that give no time. [AX-5.1-1] */
const ttlMsDefault = 60_000;
const ttlMsMax = 3_600_000;

export async function fetchList(
  state: TreeState,
  server: Server,
  kind: ListKind,
  caller: Caller,
  capacity: ListCapacity,
): Promise<FetchedList> {
  // Nobody knows how long a person takes.
  if (isAwaiting(server)) throw awaitingFault(server);
  const signal = AbortSignal.timeout(server.listMs);
  const { promise: late, reject } = Promise.withResolvers<never>();
  const isLate = () => reject(tooSlow(server));
  signal.addEventListener("abort", isLate, { once: true });
  try {
    return await Promise.race([readPages(state, server, kind, caller, capacity, signal), late]);
  } finally {
    // Else it would keep what was read until its time is over.
    signal.removeEventListener("abort", isLate);
  }
}

async function readPages(
  state: TreeState,
  server: Server,
  kind: ListKind,
  caller: Caller,
  capacity: ListCapacity,
  signal: AbortSignal,
): Promise<FetchedList> {
  const own = ownEntry(server, caller);
  const kept = own?.lists === undefined ? undefined : own.link;
  const link = kept ?? (await entryFor(state, server, caller).opening);
  const list = await readList(link, server, kind, caller, signal, capacity);
  return kept !== undefined && own?.isBeside === true ? asInModern(list) : list;
}

/** What the modern era does not say of a tool: a server of both eras has one definition of each. */
function asInModern(list: FetchedList): FetchedList {
  return { ...list, items: list.items.map(({ execution: _, ...item }) => item) };
}

/** Over this conversation, for a client that says this of itself. */
export async function readList(
  link: Link,
  server: Server,
  kind: ListKind,
  client: Client,
  signal: AbortSignal,
  capacity: Pick<ListCapacity, "grow">,
): Promise<FetchedList> {
  const { capability, key } = methods[kind];
  // Never asked for what it does not have. [AX-6.1-2]
  if (
    !isObject(link.facts.capabilities[capability]) ||
    registeredOf(server)?.declared[capability] === false
  ) {
    return { items: [], leftOut: [], cut: undefined, ttlMs: ttlMsDefault, isPrivate: false };
  }
  const gathered: Gathered = { capacity, items: [], leftOut: [], unusedBytes: 0, cut: undefined };
  const seen = new Set<string>();
  let ttlMs = ttlMsMax;
  let isPrivate = false;
  let cursor: string | undefined;
  do {
    const page = await readPage(link, kind, client, cursor, signal);
    const listed = page[key];
    if (!Array.isArray(listed)) throw bad(server, `${methods[kind].method} has no list "${key}"`);
    for (const item of listed) if (gathered.cut === undefined) gather(gathered, item);
    ttlMs = Math.min(ttlMs, Math.max(0, numberOf(page.ttlMs) ?? ttlMsDefault));
    isPrivate ||= page.cacheScope === "private";
    cursor = typeof page.nextCursor === "string" ? page.nextCursor : undefined;
    if (cursor !== undefined && seen.has(cursor)) throw bad(server, "its list repeats a page cursor");
    if (cursor !== undefined) seen.add(cursor);
    if (seen.size > pagesMax) throw bad(server, `its list has more than ${pagesMax} pages`);
  } while (cursor !== undefined && gathered.cut === undefined);
  const { items, leftOut, cut } = gathered;
  return { items, leftOut, cut, ttlMs, isPrivate };
}

type Client = Pick<Caller, "capabilities" | "info">;

interface Gathered {
  readonly capacity: Pick<ListCapacity, "grow">;
  readonly items: JsonObject[];
  readonly leftOut: string[];
  unusedBytes: number;
  cut: string | undefined;
}

/** What no client could read is left out and named; a list that is too large as a whole ends where it became so. */
function gather(gathered: Gathered, item: unknown): void {
  const { capacity, items, leftOut } = gathered;
  if (items.length + leftOut.length >= itemsMax) {
    gathered.cut = `it lists more than ${itemsMax}`;
    return;
  }
  if (!isObject(item)) {
    leftOut.push("an item that is not an object");
    return;
  }
  const bytes = bytesOf(item);
  if (bytes === undefined || bytes > itemBytesMax) {
    const why =
      bytes === undefined ? `nested deeper than ${itemDepthMax}` : `larger than ${itemBytesMax} bytes`;
    leftOut.push(`${nameOf(item)}: ${why}`);
    gathered.unusedBytes += bytes ?? 0;
    if (gathered.unusedBytes > unusedBytesMax)
      gathered.cut = `more than ${unusedBytesMax} bytes of its list cannot be used`;
    return;
  }
  gathered.cut = capacity.grow(bytes + entryBytes + entryNames * stringBytesOf(nameOf(item)));
  if (gathered.cut === undefined) items.push(item);
}

function nameOf({ name, uri, uriTemplate }: JsonObject): string {
  const text = [name, uri, uriTemplate].find((one) => typeof one === "string") ?? "an item without a name";
  return String(text).slice(0, 100);
}

async function readPage(
  link: Link,
  kind: ListKind,
  { capabilities, info }: Client,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<JsonObject> {
  try {
    // The tree's own: a question that comes meanwhile is about somebody's call, never about this.
    const request = ownRequest(methods[kind].method, signal, cursor === undefined ? {} : { cursor });
    return await link.request({ ...request, capabilities, info });
  } catch (error) {
    // Some declare resources and know no templates.
    const isUnknown = error instanceof RpcError && error.fault.code === rpcCodes.methodNotFound;
    if (isUnknown && kind === "templates") return { resourceTemplates: [] };
    throw error;
  }
}

function tooSlow(server: Server): McpxError {
  if (isAwaiting(server)) return awaitingFault(server);
  return new McpxError("timeout", `${server.name} did not list within ${server.listMs} ms`);
}

function bad(server: Server, fault: string): McpxError {
  return new McpxError("bad_server_answer", `${server.name}: ${fault}`);
}
