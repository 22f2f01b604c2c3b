// The trace of a request to a server: the request itself, for a tool the gate it waits at until a person has decided, and
// the way to the server.
// Parent and child find each other by the request (an exchange) and, where the call is made after its decision, by the
// gate. `traceparent` stands in `_meta`, as the conventions of MCP say.
import { readTraceparent, type SpanStarter, writeTraceparent } from "@mcpx/host";
import { isMcpxError, isObject, type JsonObject } from "@mcpx/protocol";
import { type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { GateWatcher } from "../gates/gatekeeper.ts";
import type { Gate } from "../gates/store/gate-store.ts";
import type { Exchange } from "../mcp/exchange.ts";

type Run = (params: JsonObject) => Promise<JsonObject>;

export interface CallTraces {
  /** A request as it comes in, to its answer, which may be that it waits. `name`: of a tool or a prompt. */
  call(exchange: Exchange, name: string | undefined, run: () => Promise<JsonObject>): Promise<JsonObject>;
  /** The call of this exchange waits at a gate. */
  wait(exchange: Exchange, gate: Gate): void;
  /** This exchange makes the call that was decided about at a gate. */
  resume(exchange: Exchange, gate: Pick<Gate, "id">): void;
  /** The request on its way to a server, which is told what it belongs to. */
  hop(exchange: Exchange, to: Hop, params: JsonObject, run: Run): Promise<JsonObject>;
  /** Notified of every change of a gate. */
  readonly watcher: GateWatcher;
}

interface Hop {
  /** The name of a tool or a prompt. */
  name: string | undefined;
  server: string;
}

/** Gates that are waited at by calls of which a trace is known; further ones have none. */
const gatesMax = 10_000;
const over: readonly Gate["status"][] = [
  "done",
  "failed",
  "rejected",
  "expired",
  "indeterminate",
  "withheld",
  "refused",
];

export function createCallTraces(tracer: SpanStarter): CallTraces {
  const contexts = new WeakMap<Exchange, Context>();
  const waiting = new Map<string, Span>();
  const changed = (gate: Gate) => {
    const span = waiting.get(gate.id);
    if (span === undefined || gate.status === "pending") return;
    if (span.isRecording()) {
      span.addEvent("mcpx.gate.decided", { "mcpx.gate.outcome": decisionOf(gate) });
      span.setAttribute("mcpx.gate.outcome", decisionOf(gate));
      span.end();
    }
    if (over.includes(gate.status)) waiting.delete(gate.id);
  };
  return {
    watcher: { changed },
    async call(exchange, name, run) {
      const parent = readTraceparent(metaOf(exchange.params).traceparent);
      const context = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
      const options = { kind: SpanKind.SERVER, attributes: attributesOf(exchange, name) };
      const span = tracer.startSpan(titleOf(exchange, name), options, context);
      contexts.set(exchange, trace.setSpan(context, span));
      return finish(span, run);
    },
    wait(exchange, gate) {
      if (waiting.has(gate.id) || waiting.size >= gatesMax || over.includes(gate.status)) return;
      const attributes = { "gen_ai.tool.name": gate.tool, "mcpx.gate.id": gate.id };
      const context = contexts.get(exchange) ?? ROOT_CONTEXT;
      waiting.set(gate.id, tracer.startSpan(`gate ${gate.tool}`, { attributes }, context));
      changed(gate);
    },
    resume(exchange, { id }) {
      const span = waiting.get(id);
      if (span !== undefined) contexts.set(exchange, trace.setSpan(ROOT_CONTEXT, span));
    },
    async hop(exchange, { name, server }, params, run) {
      const context = contexts.get(exchange) ?? ROOT_CONTEXT;
      const attributes = { ...attributesOf(exchange, name), "mcpx.server": server };
      const options = { kind: SpanKind.CLIENT, attributes };
      const span = tracer.startSpan(titleOf(exchange, name), options, context);
      const _meta = { ...metaOf(params), traceparent: writeTraceparent(span.spanContext()) };
      return finish(span, () => run({ ...params, _meta }));
    },
  };
}

async function finish(span: Span, run: () => Promise<JsonObject>): Promise<JsonObject> {
  try {
    const result = await run();
    if (result.isError === true) fail(span, "tool_error");
    return result;
  } catch (error) {
    fail(span, isMcpxError(error) ? error.code : "internal");
    throw error;
  } finally {
    span.end();
  }
}

/** The word alone: messages may hold what belongs to the caller. */
function fail(span: Span, word: string): void {
  span.setAttribute("error.type", word);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Addresses of resources are as arguments are: they are not told. */
function titleOf({ method }: Exchange, name: string | undefined): string {
  return name === undefined ? method : `${method} ${name}`;
}

function attributesOf({ method }: Exchange, name: string | undefined): Record<string, string> {
  const base = { "mcp.method.name": method };
  if (name === undefined) return base;
  if (method !== "tools/call") return { ...base, "gen_ai.prompt.name": name };
  return { ...base, "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name };
}

function metaOf({ _meta }: JsonObject): JsonObject {
  return isObject(_meta) ? _meta : {};
}

/** Everything that follows an approval has been approved. */
function decisionOf({ status }: Gate): string {
  return status === "rejected" || status === "expired" ? status : "approved";
}
