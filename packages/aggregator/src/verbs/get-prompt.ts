// A prompt of one of the servers. [B-TREE-2]
import type { JsonObject } from "@mcpx/protocol";
import { resolveName, textParam } from "../catalogue/resolve.ts";
import { dispatch } from "../dispatch/dispatch.ts";
import type { Exchange } from "../mcp/exchange.ts";
import type { TreeState } from "../servers/tree-state.ts";

export async function getPrompt(state: TreeState, exchange: Exchange): Promise<JsonObject> {
  const { caller, params } = exchange;
  const prompt = await resolveName(state, "prompts", textParam(params, "name"), caller);
  return await dispatch(state, exchange, prompt.server, { params: { ...params, name: prompt.name } });
}
