// A tool call, from top to bottom.
import { isObject, type JsonObject, latencyClasses } from "@mcpx/protocol";
import type { Entry } from "../catalogue.ts";
import { dispatch } from "../dispatch.ts";
import type { Exchange } from "../exchange.ts";
import { paramHeadersFor } from "../param-headers-for.ts";
import { resolveName, textParam } from "../resolve.ts";
import { readRoute, routeMeta, startRoute, stepRoute, withoutTreeMeta } from "../route.ts";
import { isTree } from "../server.ts";
import { sealTasks } from "../task-ids.ts";
import type { TreeState } from "../tree-state.ts";

export async function callTool(state: TreeState, exchange: Exchange): Promise<JsonObject> {
  const { caller, params } = exchange;
  const name = textParam(params, "name");
  // Resolving is authorising: what the caller may not use is not found.
  const tool = await resolveName(state, "tools", name, caller);
  const startedAt = state.clock.monotonic();
  try {
    const result = await dispatch(state, exchange, tool.server, {
      params: paramsBelow(state, exchange, tool),
      latency: tool.capability?.latency_class ?? latencyClasses[2],
      paramHeaders: paramHeadersFor(exchange, tool),
    });
    record(state, exchange, tool, startedAt);
    return sealTasks(state, tool.server, caller.principal, result);
  } catch (error) {
    record(state, exchange, tool, startedAt, error);
    throw error;
  }
}

/** As the server lists the tool, with the route where it is a tree, and without a trace of ours where it is not. */
function paramsBelow(
  state: TreeState,
  { caller, params }: Exchange,
  { server, name, canonical }: Entry,
): JsonObject {
  const meta = isObject(params._meta) ? params._meta : undefined;
  if (!isTree(server)) {
    if (meta === undefined) return { ...params, name };
    return { ...params, name, _meta: withoutTreeMeta(meta) };
  }
  const given = caller.isParent === true ? readRoute(meta) : undefined;
  const route =
    given === undefined
      ? startRoute(state.segment, canonical)
      : stepRoute(given, state.segment ?? "", canonical);
  return { ...params, name, _meta: { ...withoutTreeMeta(meta ?? {}), ...routeMeta(route) } };
}

function record(
  state: TreeState,
  { caller }: Exchange,
  tool: Entry,
  startedAt: number,
  error?: unknown,
): void {
  state.audit?.record({
    action: "tool.call",
    actor: caller.principal.id,
    subject: tool.canonical,
    ...(error !== undefined && { reason: error instanceof Error ? error.name : "failed" }),
    detail: { ms: Math.round(state.clock.monotonic() - startedAt) },
  });
}
