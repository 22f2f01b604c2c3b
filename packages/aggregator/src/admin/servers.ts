// For the operator: GET /admin/servers/{name}/log, what a server wrote to stderr.
import type { HttpRequest, HttpResponse, Identity, Route } from "@mcpx/host";
import { McpxError, quoteShort } from "@mcpx/protocol";
import { operatorRoute } from "../mcp/operator.ts";
import { serversOf, type TreeState } from "../servers/tree-state.ts";
import type { RunningTree } from "../tree/create-tree.ts";

type Tokens = Pick<Identity, "tokens">;

export function createAdminRoutes({ state }: Pick<RunningTree, "state">, identity: Tokens): Route[] {
  const guard = { identity, audit: state.audit };
  return [operatorRoute(guard, "GET", "/admin/servers/:name/log", (_by, request) => readLog(state, request))];
}

/** The last lines a server wrote to stderr, oldest first. By its name, or its segment. */
function readLog(state: TreeState, { params }: HttpRequest): HttpResponse {
  const servers = serversOf(state);
  const server =
    servers.find(({ name }) => name === params.name) ??
    servers.find(({ segment }) => segment === params.name);
  if (server === undefined)
    throw new McpxError("not_found", `there is no server ${quoteShort(params.name ?? "")}`);
  const lines = server.stderrTail
    .list()
    .map(({ at, line }) => ({ at: new Date(at).toISOString(), line: line.toWellFormed() }));
  return { body: { server: server.name, lines } };
}
