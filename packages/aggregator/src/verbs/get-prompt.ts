// A prompt of one of the servers. [B-TREE-2]
import type { JsonObject } from "@mcpx/protocol";
import { dispatch } from "../dispatch.ts";
import type { Exchange } from "../exchange.ts";
import { resolveName, textParam } from "../resolve.ts";
import type { TreeState } from "../tree-state.ts";

export async function getPrompt(state: TreeState, exchange: Exchange): Promise<JsonObject> {
  const { caller, params } = exchange;
  const prompt = await resolveName(state, "prompts", textParam(params, "name"), caller);
  return await dispatch(state, exchange, prompt.server, { params: { ...params, name: prompt.name } });
}
