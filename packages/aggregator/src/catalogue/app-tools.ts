// MCP Apps through the tree: a tool names the page its client shows, and the page calls tools of its own server, by the
// names that server gave them. The client passes these on as they are, without saying which page has called.
import { isObject, type JsonObject, McpxError } from "@mcpx/protocol";
import type { Caller } from "../mcp/exchange.ts";
import { nameIn } from "../names/dialects.ts";
import { isPage, prefixUri } from "../names/uris.ts";
import { isTree } from "../servers/server.ts";
import { isGuest } from "../servers/server-origin.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { ensureServersFor } from "../servers/users/server-for.ts";
import { mayUse } from "./authorise.ts";
import { type Entry, type Listed, listSoon } from "./catalogue.ts";

/** As older servers write it. */
const flatKey = "ui/resourceUri";

/** The `_meta` of a tool, with its page as it is read here. */
export function withPage(meta: JsonObject, segment: string | undefined): JsonObject {
  const { ui, [flatKey]: flat } = meta;
  const page = isObject(ui) ? ui.resourceUri : undefined;
  if (!isPage(page) && !isPage(flat)) return meta;
  return {
    ...meta,
    ...(isObject(ui) && isPage(page) && { ui: { ...ui, resourceUri: prefixUri(segment, page) } }),
    ...(isPage(flat) && { [flatKey]: prefixUri(segment, flat) }),
  };
}

/**
 * What a page means by a name that nothing else has: a tool of a server with pages, where only one has such a tool. A
 * guest's tool would answer for others. [B-REG-1]
 */
export async function findAppTool(
  state: TreeState,
  name: string,
  caller: Caller,
): Promise<Entry | undefined> {
  const servers = ensureServersFor(state, caller).filter((server) => !isGuest(server));
  const lists = await Promise.all(servers.map((server) => listSoon(state, server, "tools", caller)));
  const found = lists
    .flatMap((listed) => (listed === undefined ? [] : namedByPage(listed, name)))
    .filter(({ canonical }) => mayUse(state, caller, canonical));
  if (found.length > 1) {
    const names = found.map(({ fullName }) => nameIn(caller.dialect, fullName));
    throw new McpxError("ambiguous_name", `several servers with pages have ${name}: ${names.join(", ")}`);
  }
  return found[0];
}

/** A tree lists the servers below it with their names before their tools'. */
function namedByPage({ entries, byName }: Listed, name: string): Entry[] {
  const own = byName.get(name);
  const wanted = own === undefined ? entries.filter((one) => isTree(one.server) && ends(one, name)) : [own];
  return wanted.filter((one) => {
    const before = one.name.slice(0, one.name.length - name.length);
    const isBeside = (other: Entry) => other.name.startsWith(before) && pageOf(other) !== undefined;
    return isForPages(one) && entries.some(isBeside);
  });
}

function ends(entry: Entry, name: string): boolean {
  return entry.name.endsWith(`.${name}`);
}

function uiOf({ item }: Entry): JsonObject {
  const meta = isObject(item._meta) ? item._meta : {};
  return { resourceUri: meta[flatKey], ...(isObject(meta.ui) && meta.ui) };
}

function pageOf(entry: Entry): string | undefined {
  const { resourceUri } = uiOf(entry);
  return isPage(resourceUri) ? resourceUri : undefined;
}

/** Unless its server keeps it for models. */
function isForPages(entry: Entry): boolean {
  const { visibility } = uiOf(entry);
  return !Array.isArray(visibility) || visibility.includes("app");
}
