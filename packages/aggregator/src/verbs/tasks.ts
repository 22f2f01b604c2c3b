// Tasks of both generations: their ids say which server they are at, and whose they are.
import { isObject, type JsonObject } from "@mcpx/protocol";
import { dispatch } from "../dispatch.ts";
import type { Exchange } from "../exchange.ts";
import { textParam } from "../resolve.ts";
import type { Server } from "../server.ts";
import { openTaskId, sealTasks } from "../task-ids.ts";
import { serversOf, type TreeState } from "../tree-state.ts";

export const taskMethods: ReadonlySet<string> = new Set([
  "tasks/get",
  "tasks/update",
  "tasks/cancel",
  "tasks/result",
]);

export async function handleTask(state: TreeState, exchange: Exchange): Promise<JsonObject> {
  const { caller, params } = exchange;
  const { server, taskId } = openTaskId(state, caller.principal, textParam(params, "taskId"));
  const result = await dispatch(state, exchange, server, {
    params: { ...params, taskId },
    // A result of the first generation waits for the end of its task.
    latency: exchange.method === "tasks/result" ? "batch" : "standard",
  });
  return sealTasks(state, server, caller.principal, result);
}

/** Only conversations of the caller's own know whose tasks are whose; shared ones are not asked. */
export async function listTasks(state: TreeState, exchange: Exchange): Promise<JsonObject> {
  const { caller } = exchange;
  const isAsked = ({ facts, links }: Server) =>
    facts?.era === "legacy" &&
    isObject(facts.capabilities.tasks) &&
    [...links.values()].some(({ owner }) => owner?.key === caller.key);
  const results = await Promise.all(
    serversOf(state)
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
