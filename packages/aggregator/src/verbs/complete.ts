// Completion of an argument, asked of the server whose prompt or template it is. [B-TREE-2]
import { isObject, type JsonObject, McpxError } from "@mcpx/protocol";
import { resolveName, resolveUri, textParam } from "../catalogue/resolve.ts";
import { dispatchTraced } from "../dispatch/dispatch-traced.ts";
import type { Exchange } from "../mcp/exchange.ts";
import type { Server } from "../servers/server.ts";
import type { TreeState } from "../servers/tree-state.ts";

export async function complete(state: TreeState, exchange: Exchange): Promise<JsonObject> {
  const { params } = exchange;
  if (!isObject(params.ref)) throw new McpxError("bad_params", "params.ref must be an object");
  const { server, ref } = await resolveRef(state, exchange, params.ref);
  return await dispatchTraced(state, exchange, server, { params: { ...params, ref } });
}

async function resolveRef(
  state: TreeState,
  { caller }: Exchange,
  ref: JsonObject,
): Promise<{ server: Server; ref: JsonObject }> {
  if (ref.type === "ref/prompt") {
    const { server, name } = await resolveName(state, "prompts", textParam(ref, "name"), caller);
    return { server, ref: { ...ref, name } };
  }
  if (ref.type === "ref/resource") {
    const { server, uri } = await resolveUri(state, textParam(ref, "uri"), caller);
    return { server, ref: { ...ref, uri } };
  }
  throw new McpxError("bad_params", "params.ref.type must be ref/prompt or ref/resource");
}
