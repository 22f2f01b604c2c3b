// Where a call is on its way: a parent's word, checked, or the beginning. [AX-7.2-1]
import type { JsonObject } from "@mcpx/protocol";
import type { Caller } from "../mcp/exchange.ts";
import { type Route, readRoute, startRoute, stepRoute } from "../names/route.ts";
import type { TreeState } from "../servers/tree-state.ts";

export function routeOf(
  { segment }: TreeState,
  caller: Caller,
  meta: JsonObject | undefined,
  canonical: string,
): Route {
  const own = caller.ownSegment ?? segment;
  const route = caller.isParent === true ? readRoute(meta) : undefined;
  return route === undefined ? startRoute(own, canonical) : stepRoute(route, own ?? "", canonical);
}
