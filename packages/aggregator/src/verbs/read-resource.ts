// A resource of one of the servers; what comes back is named as the caller would ask for it. [B-TREE-2]
import { isObject, type JsonObject } from "@mcpx/protocol";
import { resolveUri, textParam } from "../catalogue/resolve.ts";
import { dispatchTraced } from "../dispatch/dispatch-traced.ts";
import type { Exchange } from "../mcp/exchange.ts";
import { prefixUri, splitUri } from "../names/uris.ts";
import type { TreeState } from "../servers/tree-state.ts";

export async function readResource(state: TreeState, exchange: Exchange): Promise<JsonObject> {
  const { caller, params } = exchange;
  const asked = textParam(params, "uri");
  const { server, uri } = await resolveUri(state, asked, caller);
  const result = await dispatchTraced(state, exchange, server, { params: { ...params, uri } });
  if (result.resultType === "input_required") return result;
  const isBare = splitUri(asked)?.segment !== server.segment;
  const rename = (one: unknown) =>
    isObject(one) && typeof one.uri === "string" ? { ...one, uri: prefixUri(server.segment, one.uri) } : one;
  const { contents } = result;
  return {
    // A server of the old era says nothing of caching.
    ttlMs: 0,
    cacheScope: "private",
    ...result,
    ...(Array.isArray(contents) && !isBare && { contents: contents.map(rename) }),
  };
}
