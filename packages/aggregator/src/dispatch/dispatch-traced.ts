// The way to a server of requests that are no tool calls, with a trace where one is wanted.
import type { JsonObject } from "@mcpx/protocol";
import type { Exchange } from "../mcp/exchange.ts";
import type { Server } from "../servers/server.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { dispatch } from "./dispatch.ts";

/** `name`: of a prompt. */
export function dispatchTraced(
  state: TreeState,
  exchange: Exchange,
  server: Server,
  { params, name }: { params: JsonObject; name?: string },
): Promise<JsonObject> {
  const run = (sent: JsonObject) => dispatch(state, exchange, server, { params: sent });
  if (state.traces === undefined) return run(params);
  return state.traces.hop(exchange, { name, server: server.segment ?? server.name }, params, run);
}
