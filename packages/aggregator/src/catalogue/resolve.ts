// From what a client writes to what a server knows. What is not there and what the caller may not see look the same.
import { type JsonObject, McpxError, withoutRoot } from "@mcpx/protocol";
import type { Caller } from "../mcp/exchange.ts";
import type { ListKind } from "../mcp/list-kinds.ts";
import { renderName } from "../names/dialects.ts";
import { mayFitTemplate, prefixUri, splitUri } from "../names/uris.ts";
import { resourcesName, type Server } from "../servers/server.ts";
import { isGuest } from "../servers/server-origin.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { ensureServerFor, ensureServersFor, findServerFor } from "../servers/users/server-for.ts";
import { signInTool } from "../servers/users/sign-in-link.ts";
import { findAppTool } from "./app-tools.ts";
import { mayUse } from "./authorise.ts";
import { type Entry, type Listed, listForCall, listOf, listSoon } from "./catalogue.ts";
import { renderedEntry, seesRoot } from "./directory.ts";
import { quarantineOf } from "./quarantine.ts";

/**
 * A tool or prompt by its canonical name, with or without the root's segment, its dialect's rendering, or its server's
 * own name behind the segment; a tool also by what its server's page calls it.
 */
export async function resolveName(
  state: TreeState,
  kind: "tools" | "prompts",
  written: string,
  caller: Caller,
): Promise<Entry> {
  // Always the same way, whatever servers there are: what a name means does not change with who is there.
  const name = seesRoot(caller) ? withoutRoot(state.rootSegment, written) : written;
  const entry = await findEntry(state, kind, { name, written }, caller);
  if (entry !== undefined && mayUse(state, caller, entry.canonical)) return entry;
  const instead = kind === "tools" ? await signInInstead(state, name, caller) : undefined;
  if (instead !== undefined) return instead;
  // Who names a server means that one, whatever it lists: no other is asked.
  const isPlaced = serverAt(state, name)?.segment !== undefined;
  const ofApp = kind === "tools" && !isPlaced ? await findAppTool(state, written, caller) : undefined;
  if (ofApp !== undefined) return ofApp;
  throw absence(state, kind, { name, written }, caller);
}

/**
 * A dialect may show one tool under what is the canonical name of another at the root: the caller means what it was
 * shown. Where its dialect leaves a name as it is, no other is shown under it.
 */
async function findEntry(
  state: TreeState,
  kind: "tools" | "prompts",
  { name, written }: { name: string; written: string },
  caller: Caller,
): Promise<Entry | undefined> {
  const { dialect } = caller;
  const rendered = () => renderedEntry(state, kind, written, caller);
  const byName = () => findByName(state, kind, name, caller);
  const isPlain =
    dialect === "canonical" || written.includes(".") || renderName(written, dialect) === written;
  return isPlain ? ((await byName()) ?? (await rendered())) : ((await rendered()) ?? (await byName()));
}

/** A caller who may use a tool may sign in for it: before that nobody knows whether the tool exists. */
async function signInInstead(state: TreeState, name: string, caller: Caller): Promise<Entry | undefined> {
  const server = serverOf(state, name, caller);
  if (server?.origin.kind !== "sign-in" || !mayUse(state, caller, name)) return undefined;
  return (await listOf(state, server, "tools", caller))?.byName.get(signInTool);
}

async function findByName(
  state: TreeState,
  kind: "tools" | "prompts",
  name: string,
  caller: Caller,
): Promise<Entry | undefined> {
  const server = serverOf(state, name, caller);
  if (server === undefined) return undefined;
  const own = server.segment === undefined ? name : name.slice(server.segment.length + 1);
  const find = (listed: Listed | undefined) => listed?.byCanonical.get(name) ?? listed?.byName.get(own);
  // What a lost conversation has listed says nothing of the next one. [AX-13.1-2]
  const known = server.degraded === undefined ? await listForCall(state, server, kind, caller) : undefined;
  return find(known) ?? find(await listOf(state, server, kind, caller));
}

/** Reads the list again that a name would be found in, where its server has said that it has changed. */
export async function renewTools(state: TreeState, written: string, caller: Caller): Promise<void> {
  const name = seesRoot(caller) ? withoutRoot(state.rootSegment, written) : written;
  const server = serverOf(state, name, caller);
  if (server !== undefined) await listOf(state, server, "tools", caller);
}

/** Whose name it is, by its first part. */
export function serverAt({ bySegment, root }: TreeState, name: string): Server | undefined {
  const dot = name.indexOf(".");
  return (dot > 0 ? bySegment.get(name.slice(0, dot)) : undefined) ?? root;
}

function serverOf(state: TreeState, name: string, caller: Caller): Server | undefined {
  const server = serverAt(state, name);
  return server && ensureServerFor(state, server, caller);
}

/** A server that is down, or cannot be listed, is said to be, to those who may see it. */
function absence(
  state: TreeState,
  kind: "tools" | "prompts",
  { name, written }: { name: string; written: string },
  caller: Caller,
): McpxError {
  const quarantined = kind === "tools" ? quarantineOf(state, { name, written }, caller) : undefined;
  if (quarantined !== undefined) return quarantined;
  const at = serverAt(state, name);
  const server = at && findServerFor(state, at, caller);
  if (server !== undefined && mayUse(state, caller, name)) {
    const { fault } = server;
    const detail = fault?.detail ?? server.listFaults.get(kind);
    const retryAfterMs = fault && Math.max(0, Math.ceil(fault.retryAt - state.clock.monotonic()));
    if (detail !== undefined) {
      const named = detail.startsWith(`${server.name}: `) ? detail : `${server.name}: ${detail}`;
      return new McpxError("server_unreachable", named, retryAfterMs === undefined ? {} : { retryAfterMs });
    }
  }
  return new McpxError(kind === "tools" ? "unknown_tool" : "unknown_prompt", written.slice(0, 300));
}

export interface Place {
  server: Server;
  /** The URI at that server. */
  uri: string;
}

/** Where a resource is: by its prefix, or bare where only one server that is no guest can have it. [B-TREE-2] */
export async function resolveUri(state: TreeState, uri: string, caller: Caller): Promise<Place> {
  const split = splitUri(uri);
  const prefixed = split && state.bySegment.get(split.segment);
  if (split !== undefined && prefixed !== undefined) {
    if (mayUse(state, caller, resourcesName(prefixed)))
      return { server: ensureServerFor(state, prefixed, caller), uri: split.rest };
    throw unknownResource(uri);
  }
  if (state.root !== undefined && mayUse(state, caller, resourcesName(state.root)))
    return { server: ensureServerFor(state, state.root, caller), uri };
  // A guest that lists others' URIs, or a template that fits all of them, would answer for their owners. [B-REG-1]
  const servers = ensureServersFor(state, caller).filter(
    (server) => !isGuest(server) && mayUse(state, caller, resourcesName(server)),
  );
  const having = await Promise.all(
    servers.map(async (server) => ((await mayHave(state, server, uri, caller)) ? server : undefined)),
  );
  const found = having.filter((server) => server !== undefined);
  const [only] = found;
  if (only === undefined) throw unknownResource(uri);
  if (found.length > 1) {
    throw new McpxError("ambiguous_name", found.map(({ segment }) => prefixUri(segment, uri)).join(", "));
  }
  return { server: only, uri };
}

async function mayHave(state: TreeState, server: Server, uri: string, caller: Caller): Promise<boolean> {
  const lists = await Promise.all(
    (["resources", "templates"] as const satisfies ListKind[]).map((kind) =>
      listSoon(state, server, kind, caller),
    ),
  );
  const [resources, templates] = lists;
  if (resources?.byName.has(uri)) return true;
  return templates?.entries.some(({ name }) => mayFitTemplate(name, uri)) ?? false;
}

function unknownResource(uri: string): McpxError {
  return new McpxError("unknown_resource", uri.slice(0, 300));
}

/** A string of the params, or `bad_params`. */
export function textParam(params: JsonObject, key: string): string {
  const value = params[key];
  if (typeof value !== "string" || value === "")
    throw new McpxError("bad_params", `params.${key} must be a string`);
  return value;
}
