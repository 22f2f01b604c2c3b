// A prompt of one of the servers. [B-TREE-2]
import type { JsonObject } from "@mcpx/protocol";
import { resolveName, textParam } from "../catalogue/resolve.ts";
import { dispatchTraced } from "../dispatch/dispatch-traced.ts";
import type { Exchange } from "../mcp/exchange.ts";
import type { TreeState } from "../servers/tree-state.ts";

export async function getPrompt(state: TreeState, exchange: Exchange): Promise<JsonObject> {
  const { caller, params } = exchange;
  const prompt = await resolveName(state, "prompts", textParam(params, "name"), caller);
  const sent = { ...params, name: prompt.name };
  return await dispatchTraced(state, exchange, prompt.server, { params: sent, name: prompt.fullName });
}
