// The routing table, as `mcpax.routes` shows it: where a call of each tool goes. [AX-7.1-1]
import { type JsonObject, McpxError, withoutRoot } from "@mcpx/protocol";
import type { Entry } from "../catalogue/catalogue.ts";
import { directoryFor } from "../catalogue/directory.ts";
import type { Caller } from "../mcp/exchange.ts";
import { registeredOf } from "../servers/server-origin.ts";
import { shownCapability } from "../servers/tool-latency.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { mayList } from "./list.ts";

const routesMax = 500;

/** What this caller may call, in the order of names, so many at once; `next` is where to go on. */
export async function routesOf(state: TreeState, caller: Caller, after: unknown): Promise<JsonObject> {
  if (after !== undefined && typeof after !== "string")
    throw new McpxError("bad_params", "after must be a name");
  const { entries } = await directoryFor(state, "tools", caller);
  const last = after === undefined ? "" : withoutRoot(state.rootSegment, after);
  const rest = entries.filter((entry) => entry.canonical > last && mayList(state, caller, "tools", entry));
  const shown = rest.slice(0, routesMax);
  const next = rest.length > shown.length ? shown.at(-1)?.fullName : undefined;
  return {
    routes: Object.fromEntries(shown.map((entry) => [entry.fullName, routeOf(entry)])),
    next: next ?? null,
  };
}

function routeOf(entry: Entry): JsonObject {
  const session = registeredOf(entry.server)?.session;
  return {
    downstream_session: session?.id ?? null,
    downstream_name: entry.name,
    capability: shownCapability(entry) ?? null,
    registered_at: session === undefined ? null : new Date(session.registeredAt).toISOString(),
  };
}
