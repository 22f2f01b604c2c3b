// Whether a caller may know of a server at all: who may use nothing of it learns nothing of it.

import type { Caller } from "../mcp/exchange.ts";
import { resourcesName, type Server } from "../servers/server.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { mayUse } from "./authorise.ts";
import { type Entry, knownList } from "./catalogue.ts";

/** Something of it, as far as it has been listed. */
export function maySee(state: TreeState, caller: Caller, server: Server): boolean {
  return mayUseSome(state, caller, server, server.segment);
}

/** Something of the part of the tree at `route`, which begins with the server. [AX-12-1] */
export function mayHear(state: TreeState, caller: Caller, server: Server, route: readonly string[]): boolean {
  return mayUseSome(state, caller, server, route.length === 0 ? server.segment : route.join("."));
}

function mayUseSome(state: TreeState, caller: Caller, server: Server, place: string | undefined): boolean {
  if (mayUse(state, caller, resourcesName({ segment: place }))) return true;
  const prefix = place === undefined ? "" : `${place}.`;
  const tools = knownTools(server, caller);
  return tools.some(({ canonical }) => canonical.startsWith(prefix) && mayUse(state, caller, canonical));
}

/** As the caller has listed them, else as anybody has: only their names count. */
function knownTools(server: Server, caller: Caller): readonly Entry[] {
  const own = knownList(server, "tools", caller);
  const others = [...server.lists.values()].map(({ tools }) => tools.listed);
  return (own ?? others.find((listed) => listed !== undefined))?.entries ?? [];
}
