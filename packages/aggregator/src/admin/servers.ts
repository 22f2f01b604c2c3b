// For the operator: GET /admin/servers/{name}/log, what a server wrote beside the protocol.
import { bearerToken, type HttpRequest, type HttpResponse, type Identity, type Route } from "@mcpx/host";
import { isMcpxError, McpxError } from "@mcpx/protocol";
import type { RunningTree } from "../create-tree.ts";
import { serversOf, type TreeState } from "../tree-state.ts";

type Tokens = Pick<Identity, "tokens">;

export function createAdminRoutes({ state }: Pick<RunningTree, "state">, identity: Tokens): Route[] {
  const path = "/admin/servers/:name/log";
  return [{ method: "GET", path, handle: (request) => guarded(state, identity, request, path, readLog) }];
}

/** Every denial leaves a record. */
async function guarded(
  state: TreeState,
  { tokens }: Tokens,
  request: HttpRequest,
  path: string,
  verb: (state: TreeState, request: HttpRequest) => HttpResponse,
): Promise<HttpResponse> {
  let actor = request.remoteAddress;
  try {
    const principal = await tokens.verify(bearerToken(request));
    actor = principal.id ?? actor;
    if (!principal.admin) throw new McpxError("admin_only");
  } catch (error) {
    if (isMcpxError(error)) state.audit?.record({ action: `GET ${path}`, reason: error.code, actor });
    throw error;
  }
  return verb(state, request);
}

/** The last lines a server wrote beside the protocol, oldest first. By its name, or its segment. */
function readLog(state: TreeState, { params }: HttpRequest): HttpResponse {
  const servers = serversOf(state);
  const server =
    servers.find(({ name }) => name === params.name) ??
    servers.find(({ segment }) => segment === params.name);
  if (server === undefined) throw new McpxError("not_found", "there is no such server");
  const lines = server.remarks
    .list()
    .map(({ at, line }) => ({ at: new Date(at).toISOString(), line: line.toWellFormed() }));
  return { body: { server: server.name, lines } };
}
