// How much servers are to log: a caller's own conversations as that caller wants it, shared ones as much as anybody who
// may see the server has asked for.

import { maySee } from "../catalogue/may-see.ts";
import { type LogLevel, logLevels } from "../mcp/era.ts";
import type { Caller } from "../mcp/exchange.ts";
import type { LinkEntry } from "../servers/link-entry.ts";
import type { Server } from "../servers/server.ts";
import { everyServer, type TreeState } from "../servers/tree-state.ts";

/** When the last one who asked has left. */
const quietLevel: LogLevel = "info";

/** `undefined`: the caller is gone. */
export function wantLogs(state: TreeState, caller: Caller, level: LogLevel | undefined): void {
  if (level === undefined && !state.logLevels.delete(caller)) return;
  if (level !== undefined) state.logLevels.set(caller, level);
  for (const server of everyServer(state)) {
    for (const entry of server.links.values()) {
      if (entry.owner === undefined) entry.link?.setLogLevel(sharedLevel(state, server) ?? quietLevel);
      else if (entry.owner.key === caller.key && level !== undefined) entry.link?.setLogLevel(level);
    }
  }
}

/** To be called once a conversation is open. A server nobody wanted to hear more or less of keeps its own level. */
export function tuneLogs(state: TreeState, server: Server, { owner, link }: LinkEntry): void {
  const level = owner === undefined ? sharedLevel(state, server) : state.logLevels.get(owner);
  if (level !== undefined) link?.setLogLevel(level);
}

function sharedLevel(state: TreeState, server: Server): LogLevel | undefined {
  const levels = [...state.logLevels]
    .filter(([caller]) => maySee(state, caller, server))
    .map(([, level]) => level);
  return logLevels.find((level) => levels.includes(level));
}
