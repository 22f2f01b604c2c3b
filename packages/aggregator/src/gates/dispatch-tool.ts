// A tool call that may go on: charged, sent to its server, measured, recorded.
import { cautious, isMcpxError, isObject, type JsonObject } from "@mcpx/protocol";
import type { Entry } from "../catalogue/catalogue.ts";
import { noteCall } from "../dispatch/call-figures.ts";
import { type Dispatch, dispatch } from "../dispatch/dispatch.ts";
import { paramHeadersFor } from "../dispatch/param-headers-for.ts";
import type { PreparedCall } from "../dispatch/prepare-call.ts";
import { routeOf } from "../dispatch/route-of.ts";
import type { Caller, Exchange } from "../mcp/exchange.ts";
import { ownSegment } from "../names/own-segment.ts";
import { routeMeta, withoutTreeMeta } from "../names/route.ts";
import { sealTasks } from "../notifications/task-ids.ts";
import { degradedFault } from "../servers/degrade.ts";
import { observe } from "../servers/latency.ts";
import { isTree } from "../servers/server.ts";
import { registeredOf } from "../servers/server-origin.ts";
import { declaredLatency, latencyOf } from "../servers/tool-latency.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { inOwnWords } from "./advise.ts";
import { noteBelow } from "./gatekeeper.ts";

/** `sending` is called with what is about to leave, and keeps it back by throwing. */
export async function dispatchTool(
  state: TreeState,
  exchange: Exchange,
  call: PreparedCall,
  sending?: Dispatch["sending"],
): Promise<JsonObject> {
  const { caller } = exchange;
  const { tool } = call;
  const startedAt = state.clock.monotonic();
  try {
    charge(state, caller, tool);
    const result = await send(state, exchange, call, sending);
    record(state, exchange, tool, startedAt);
    if (result.resultType !== "input_required") {
      count(state, tool, startedAt, result.isError === true ? "tool_error" : undefined);
    }
    const told = isTree(tool.server) ? inOwnWords(state, caller, tool.fullName, result) : result;
    if (state.gates !== undefined && isTree(tool.server)) noteBelow(state.gates, tool, caller, told);
    const sealed = sealTasks(state, tool.server, caller.principal, told);
    return caller.isParent === true ? timed(sealed, state.clock.monotonic() - startedAt) : sealed;
  } catch (thrown) {
    const error = degradedFault(tool.server, thrown);
    record(state, exchange, tool, startedAt, error);
    count(state, tool, startedAt, reasonOf(error));
    throw error;
  }
}

/** Sends the call, inside a span where traces are on. */
async function send(
  state: TreeState,
  exchange: Exchange,
  call: PreparedCall,
  sending: Dispatch["sending"],
): Promise<JsonObject> {
  const { tool } = call;
  const { traces } = state;
  const params = paramsBelow(state, exchange, call);
  const wish = {
    sending,
    latency: latencyOf(tool).effective,
    paramHeaders: paramHeadersFor(exchange, tool),
    took: (ms: number) => observe(latencyOf(tool), declaredLatency(tool), ms),
  };
  const run = (sent: JsonObject) => dispatch(state, exchange, tool.server, { ...wish, params: sent });
  if (traces === undefined || tool.server.segment === ownSegment) return run(params);
  const { server, fullName: name } = tool;
  return traces.hop(exchange, { name, server: server.segment ?? server.name }, params, run);
}

/** From here on the call counts, and nothing is awaited between: racing calls cannot use the same unit twice. */
function charge(
  { clock, payerOf }: TreeState,
  { key }: Caller,
  { server, capability = cautious }: Entry,
): void {
  const refusal = registeredOf(server)?.refusal();
  if (refusal !== undefined) throw refusal;
  const now = clock.monotonic();
  // Both pay, or neither.
  server.budget?.check(capability, now);
  payerOf(key)?.charge(capability, now);
  server.budget?.charge(capability, now);
}

/** As the server lists the tool, with the route where it is a tree, and without a trace of ours where it is not. */
export function paramsBelow(
  state: TreeState,
  { caller }: Exchange,
  { tool: { server, name, canonical }, params }: PreparedCall,
): JsonObject {
  const meta = isObject(params._meta) ? params._meta : undefined;
  const isToTree = isTree(server);
  const next = isToTree || caller.isParent === true ? routeOf(state, caller, meta, canonical) : undefined;
  const kept = meta === undefined ? {} : withoutTreeMeta(meta);
  if (isToTree && next !== undefined) return { ...params, name, _meta: { ...kept, ...routeMeta(next) } };
  if (meta === undefined) return { ...params, name };
  const { _meta, ...rest } = params;
  return Object.keys(kept).length === 0 ? { ...rest, name } : { ...rest, name, _meta: kept };
}

/** Only trees above are told: plain clients see results as their servers gave them. [AX-7.2-4] */
function timed(result: JsonObject, ms: number): JsonObject {
  const meta = isObject(result._meta) ? result._meta : {};
  return { ...result, _meta: { ...meta, "x-mcpax-latency-ms": Math.round(ms) } };
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
    subject: tool.fullName,
    ...(error !== undefined && { reason: reasonOf(error) }),
    detail: { ms: Math.round(state.clock.monotonic() - startedAt) },
  });
}

/** Calls of built-in tools are not counted against any server. */
function count(
  { calls, meter, clock }: TreeState,
  { server }: Entry,
  startedAt: number,
  reason: string | undefined,
): void {
  if (server.segment === ownSegment) return;
  const name = server.segment ?? server.name;
  noteCall(calls, name, clock.now(), reason);
  meter?.called(name, reason ?? "ok", clock.monotonic() - startedAt);
}

function reasonOf(error: unknown): string {
  return isMcpxError(error) ? error.code : "server_error";
}
