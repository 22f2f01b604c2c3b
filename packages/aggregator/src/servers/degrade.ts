// A server whose conversation was lost: its tools stay listed for a while, marked, and calls of them say since when.
// [AX-13.2-1] [AX-13.2-2]
import { isMcpxError, McpxError } from "@mcpx/protocol";
import { listKinds } from "../mcp/list-kinds.ts";
import { expireLists, forgetLists, renewLists } from "./list-slots.ts";
import type { Server } from "./server.ts";
import { userOf } from "./server-origin.ts";
import type { TreeState } from "./tree-state.ts";

const retryMs = 5_000;

export function degrade(state: TreeState, server: Server, why: string): void {
  const { clock, graceMs } = state;
  const isNews = !server.isLost;
  server.isLost = true;
  // First: who may be told is decided by what is listed.
  if (isNews) state.events.lost(server);
  if (graceMs === 0) {
    // No definition outlives its conversation. [AX-13.1-2]
    forgetLists(server);
  } else if (server.degraded === undefined) {
    const until = clock.monotonic() + graceMs;
    const degraded = { since: clock.now(), until, why };
    server.degraded = degraded;
    expireLists(server, listKinds);
    const end = () => {
      if (server.degraded === degraded) relist(state, server);
    };
    setTimeout(end, graceMs).unref();
  }
  state.events.listsChanged(listKinds, userOf(server));
}

/** It is there again. A new conversation lists afresh. */
export function restore(state: TreeState, server: Server): void {
  server.isLost = false;
  if (server.degraded !== undefined) relist(state, server);
}

/** Also what has not come back in time is forgotten. */
function relist(state: TreeState, server: Server): void {
  server.degraded = undefined;
  renewLists(server);
  state.events.listsChanged(listKinds, userOf(server));
}

/** What a call of a degraded server's tool is answered with where the server cannot be reached. */
export function degradedFault(server: Server, error: unknown): unknown {
  const { degraded } = server;
  if (degraded === undefined || !isMcpxError(error) || error.code !== "server_unreachable") return error;
  return new McpxError("subserver_unreachable", error.detail, {
    retryAfterMs: error.retryAfterMs ?? retryMs,
    data: { since: new Date(degraded.since).toISOString() },
    cause: error,
  });
}
