// Idle child processes are ended. The next call starts the process again; the server stays in the tree meanwhile.

import { type LinkEntry, sharedKey } from "./link-entry.ts";
import { forgetEntry } from "./link-pool.ts";
import { forgetLists } from "./list-slots.ts";
import type { Server } from "./server.ts";
import type { TreeState } from "./tree-state.ts";

/** Of one caller's own, unless the server's time is given. */
const ownIdleMs = 600_000;

/** To be called once its conversation is open. */
export function stopWhenIdle(state: TreeState, server: Server, entry: LinkEntry): void {
  const idleMs = idleMsOf(server, entry);
  if (idleMs === undefined || entry.link?.pid === undefined) return;
  const look = () => {
    if (state.isClosed || ![...server.links.values()].includes(entry)) return;
    const leftMs = entry.usedAt + idleMs - state.clock.monotonic();
    if (leftMs <= 0 && entry.inFlight === 0 && !isWatched(state, entry)) stop(state, server, entry);
    else setTimeout(look, leftMs > 0 ? leftMs : idleMs).unref();
  };
  setTimeout(look, idleMs).unref();
}

function idleMsOf(server: Server, entry: LinkEntry): number | undefined {
  const { idleMs = 0, listMs, era, links } = server;
  // Begun at the same moment as the one that everybody uses now.
  const isStray = era === "modern" && links.get(sharedKey) !== entry;
  const wanted = idleMs > 0 ? idleMs : entry.owner !== undefined || isStray ? ownIdleMs : undefined;
  // A list that is being read is not in flight, and has its own time.
  return wanted && Math.max(wanted, listMs);
}

/** Somebody wants to be told over it. */
function isWatched({ subscribers }: TreeState, entry: LinkEntry): boolean {
  return [...subscribers].some(({ watches }) => watches.some((one) => one.entry === entry));
}

function stop(state: TreeState, server: Server, entry: LinkEntry): void {
  // First: an end that was wanted is no loss, and nobody is told that anything has changed.
  forgetEntry(server, entry);
  // No definition outlives its conversation. [AX-13.1-2]
  if (entry.owner === undefined) forgetLists(server);
  state.log.info({ server: server.name, pid: entry.link?.pid }, "idle server stopped");
  void entry.link?.close();
}
