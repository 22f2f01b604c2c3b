// Tasks of both eras: their ids name the server and the caller.
import { isObject, type JsonObject } from "@mcpx/protocol";
import { textParam } from "../catalogue/resolve.ts";
import { dispatch } from "../dispatch/dispatch.ts";
import type { Era } from "../mcp/era.ts";
import type { Caller, Exchange } from "../mcp/exchange.ts";
import { rpcCodes, rpcError } from "../mcp/rpc-error.ts";
import { openTaskId, sealTasks } from "../notifications/task-ids.ts";
import type { Server } from "../servers/server.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { ensureServerFor, findServersFor } from "../servers/users/server-for.ts";

/** The second generation is an extension of the modern era; the first belongs to the legacy one. */
const methods: Readonly<Record<Era, ReadonlySet<string>>> = {
  modern: new Set(["tasks/get", "tasks/update", "tasks/cancel"]),
  legacy: new Set(["tasks/get", "tasks/result", "tasks/cancel", "tasks/list"]),
};
const extension = "io.modelcontextprotocol/tasks";

export function isTaskMethod({ caller, method }: Exchange): boolean {
  return methods[caller.era].has(method);
}

export async function handleTask(state: TreeState, exchange: Exchange): Promise<JsonObject> {
  const { caller, method, params } = exchange;
  checkDeclared(caller);
  if (method === "tasks/list") return await listTasks(state, exchange);
  const { server: at, taskId } = openTaskId(state, caller.principal, textParam(params, "taskId"));
  const server = ensureServerFor(state, at, caller);
  const result = await dispatch(state, exchange, server, {
    params: { ...params, taskId },
    // A result of the first generation waits for the end of its task.
    latency: method === "tasks/result" ? "batch" : "standard",
  });
  return sealTasks(state, server, caller.principal, result);
}

function checkDeclared({ era, capabilities }: Caller): void {
  if (era === "legacy") return;
  const { extensions } = capabilities;
  if (isObject(extensions) && isObject(extensions[extension])) return;
  throw rpcError(rpcCodes.missingClientCapability, `the client has not declared ${extension}`, {
    requiredCapabilities: { extensions: { [extension]: {} } },
  });
}

/** Only sessions of one caller know whose tasks they list; shared sessions are not asked. */
async function listTasks(state: TreeState, exchange: Exchange): Promise<JsonObject> {
  const { caller } = exchange;
  const isAsked = ({ links }: Server) =>
    [...links.values()].some(
      ({ owner, link }) =>
        owner?.key === caller.key && link?.facts.era === "legacy" && isObject(link.facts.capabilities.tasks),
    );
  const results = await Promise.all(
    findServersFor(state, caller)
      .filter(isAsked)
      .map(async (server) =>
        sealTasks(state, server, caller.principal, await dispatch(state, exchange, server, { params: {} })),
      ),
  );
  return {
    resultType: "complete",
    tasks: results.flatMap(({ tasks }) => (Array.isArray(tasks) ? tasks : [])),
  };
}
