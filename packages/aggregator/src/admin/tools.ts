// For the operator: GET /admin/tools (what is not shown, and why), GET /admin/tools/{name} (one tool, with what has
// changed in it), POST /admin/tools/{name}/accept (it may be as it is now).
import type { Audit, HttpRequest, Identity, Principal, Route } from "@mcpx/host";
import {
  isObject,
  type JsonObject,
  McpxError,
  parseExact,
  quoteShort,
  withoutRoot,
  withRoot,
} from "@mcpx/protocol";
import { listSoon } from "../catalogue/catalogue.ts";
import type { ToolChange } from "../catalogue/pin-store.ts";
import { serverAt } from "../catalogue/resolve.ts";
import { toolDiff } from "../catalogue/tool-diff.ts";
import { localRoute, operatorRoute } from "../mcp/operator.ts";
import { plainCaller, principalName } from "../mcp/plain-caller.ts";
import { announceChange } from "../notifications/announce.ts";
import { expireLists } from "../servers/list-slots.ts";
import type { Server } from "../servers/server.ts";
import { everyServer, serversOf, type TreeState } from "../servers/tree-state.ts";
import { ensureServerFor } from "../servers/users/server-for.ts";

export interface ToolRoutesOptions {
  tree: { readonly state: TreeState };
  identity: Pick<Identity, "tokens" | "secret">;
  audit: Audit;
}

/** A tool, wherever it stands in its life. */
interface KnownTool {
  canonical: string;
  server: Server;
  tool: string;
  state: "listed" | "disabled" | "quarantined";
}

export function toolRoutes({ tree: { state }, identity, audit }: ToolRoutesOptions): Route[] {
  const guard = { identity, audit };
  return [
    operatorRoute(guard, "GET", "/admin/tools", async (by) => ({ body: await listHeld(state, by) })),
    operatorRoute(guard, "GET", "/admin/tools/:name", async (by, { params }) => ({
      body: await showTool(state, by, params.name ?? ""),
    })),
    // A trusted server's new word may say that its tool needs no approval any more.
    localRoute(guard, "POST", "/admin/tools/:name/accept", async (by, request) => ({
      body: await acceptTool(state, audit, by, request),
    })),
  ];
}

async function listHeld(state: TreeState, by: Principal): Promise<JsonObject> {
  const tools = await knownTools(state, by);
  return { tools: tools.filter((one) => one.state !== "listed").map((tool) => written(state, tool)) };
}

async function showTool(state: TreeState, by: Principal, name: string): Promise<JsonObject> {
  const found = await findTool(state, by, name);
  if (found === undefined) throw new McpxError("not_found", `there is no tool ${quoteShort(name)}`);
  const change =
    found.state === "quarantined" ? await state.pins?.change(found.server.name, found.tool) : undefined;
  return { ...written(state, found), ...(change && changeReport(change)) };
}

/** With `hash` in the body only if the change is still that one. */
async function acceptTool(
  state: TreeState,
  audit: Audit,
  by: Principal,
  request: HttpRequest,
): Promise<JsonObject> {
  const body = request.hasJson() ? await request.json() : {};
  const looked = isObject(body) ? body.hash : undefined;
  if (looked !== undefined && typeof looked !== "string")
    throw new McpxError("bad_request", "hash must be a string");
  const found = await findTool(state, by, request.params.name ?? "");
  const change = found && (await state.pins?.change(found.server.name, found.tool));
  if (found?.state !== "quarantined" || change === undefined)
    throw new McpxError("not_found", `${quoteShort(request.params.name ?? "")} is not a quarantined tool`);
  if (!(await state.pins?.accept(change.server, change.tool, looked ?? change.hash)))
    throw new McpxError("bad_request", "the tool has changed again since its change was shown");
  const name = withRoot(state.rootSegment, found.canonical);
  const actor = principalName(by);
  const detail = { server: change.server, tool: change.tool, now: change.hash };
  await audit.recordNow({ action: "tool.accept", actor, subject: name, detail });
  for (const server of everyServer(state)) if (server.name === change.server) expireLists(server, ["tools"]);
  announceChange(state, "tools");
  return { canonical: name, server: change.server, tool: change.tool, hash: change.hash, acceptedBy: actor };
}

/** What has changed, for people and programs. */
export function changeReport({ hash, since, was, now }: ToolChange): JsonObject {
  return { hash, since: new Date(since).toISOString(), diff: toolDiff(read(was), read(now)) };
}

function read(text: string): JsonObject {
  return parseExact(text) as JsonObject;
}

function written({ rootSegment }: TreeState, { canonical, server, tool, state }: KnownTool): JsonObject {
  return { canonical: withRoot(rootSegment, canonical), server: server.name, tool, state };
}

/** By its name, with or without the root's segment. */
async function findTool(state: TreeState, by: Principal, written: string): Promise<KnownTool | undefined> {
  const name = withoutRoot(state.rootSegment, written);
  const at = serverAt(state, name);
  return (await knownTools(state, by, at && [at])).find(({ canonical }) => canonical === name);
}

/** Asks the servers they may be at first, so that nothing is judged by an old list. */
async function knownTools(
  state: TreeState,
  principal: Principal,
  at: readonly Server[] = serversOf(state),
): Promise<KnownTool[]> {
  const caller = plainCaller(principal, "operator");
  const known = new Map<string, KnownTool>();
  const asked = at.map((server) => ensureServerFor(state, server, caller));
  await Promise.all(asked.map((server) => listSoon(state, server, "tools", caller, server.listMs)));
  // Of what is other users' own, what they have listed themselves: nobody else asks in their name.
  for (const server of everyServer(state)) {
    for (const { tools } of server.lists.values()) {
      for (const [canonical, { name, why }] of tools.listed?.held ?? [])
        known.set(canonical, { canonical, server, tool: name, state: why });
    }
    // What is shown to anybody counts as shown, unless it is held back from others.
    for (const { tools } of server.lists.values()) {
      for (const { canonical, name } of tools.listed?.entries ?? []) {
        if (known.get(canonical)?.state !== "quarantined")
          known.set(canonical, { canonical, server, tool: name, state: "listed" });
      }
    }
  }
  return [...known.values()].sort((a, b) => (a.canonical < b.canonical ? -1 : 1));
}
