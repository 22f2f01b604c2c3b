// Whether a caller may know of a server at all: who may use nothing of it learns nothing of it.
import { mayUse } from "./authorise.ts";
import { knownList } from "./catalogue.ts";
import type { Caller } from "./exchange.ts";
import { resourcesName, type Server } from "./server.ts";
import type { TreeState } from "./tree-state.ts";

/** Something of it, as far as it has been listed. */
export function maySee(state: TreeState, caller: Caller, server: Server): boolean {
  if (mayUse(state, caller, resourcesName(server))) return true;
  const tools = knownList(server, "tools", caller)?.entries ?? [];
  return tools.some(({ canonical }) => mayUse(state, caller, canonical));
}
