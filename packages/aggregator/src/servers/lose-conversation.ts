// A conversation is over that nobody has ended. A child that ends again and again is left alone for a while.
import { noteDeath } from "./crash-loop.ts";
import { degrade } from "./degrade.ts";
import type { LinkEntry } from "./link-entry.ts";
import { forgetEntry } from "./link-pool.ts";
import type { Server } from "./server.ts";
import { noteOwnDeath } from "./setbacks.ts";
import { withStderr } from "./stderr-tail.ts";
import type { TreeState } from "./tree-state.ts";

export function loseConversation(state: TreeState, server: Server, entry: LinkEntry, why: string): void {
  if (!forgetEntry(server, entry) || state.isClosed) return;
  const told = withStderr(why, entry.stderrTail);
  server.lastLoss = { why: told, at: state.clock.now() };
  state.log.info({ server: server.name, why: told }, "session with a server ended");
  if (entry.link?.pid !== undefined) breakLoop(state, server, entry, told);
  if (entry.owner === undefined) degrade(state, server, told);
  state.events.ended(server, entry);
}

/** The server is not started for a while: for no caller, or not for the caller to whom the session belonged. */
function breakLoop(state: TreeState, server: Server, { openedAt, owner }: LinkEntry, why: string): void {
  const now = state.clock.monotonic();
  if (owner !== undefined) {
    noteOwnDeath(server, owner, { now, livedMs: now - openedAt, why });
    return;
  }
  const waitMs = noteDeath(server.crashLoop, now, now - openedAt);
  if (waitMs === undefined) return;
  const detail = `it ends again and again, last with ${why}`;
  server.fault = { detail, since: state.clock.now(), retryAt: now + waitMs, failures: 1 };
  state.log.warn(
    { server: server.name, detail, retryInMs: waitMs },
    "server is crash-looping; restart delayed",
  );
}
