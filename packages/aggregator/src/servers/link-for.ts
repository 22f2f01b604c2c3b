// Which conversation a caller's request goes into. A modern server has one for all: every request says what its caller
// can (`dispatch/legacy-beside.ts` is what one of both eras has beside it). A legacy server is told once, at the
// beginning, so callers who can be asked things get a conversation of their own, and a question can never reach somebody
// else; all others share.
import type { Link } from "../links/link.ts";
import { canBeAsked, capabilityKeyOf } from "../mcp/capability-key.ts";
import type { Caller } from "../mcp/exchange.ts";
import { type LinkEntry, openBeside, ownKey, sharedKey } from "./link-entry.ts";
import { openConversation } from "./open-conversation.ts";
import type { Server } from "./server.ts";
import { isShared } from "./server-origin.ts";
import type { TreeState } from "./tree-state.ts";

export interface UsableLink {
  link: Link;
  entry: LinkEntry;
}

/** Throws, or its opening rejects, with `server_unreachable` or `too_many_sessions`; the server's `fault` is kept. */
export function entryFor(state: TreeState, server: Server, caller: Caller): LinkEntry {
  const key = freeKey(server, caller);
  const entry = server.links.get(key) ?? openConversation(state, server, caller, key);
  entry.usedAt = state.clock.monotonic();
  return entry;
}

/** For what stays: a caller that has a conversation of its own beside the shared one watches in that. */
export async function linkFor(state: TreeState, server: Server, caller: Caller): Promise<UsableLink> {
  const entry = openBeside(server, caller) ?? entryFor(state, server, caller);
  return { link: await entry.opening, entry };
}

function keyFor(server: Server, caller: Caller): string {
  if (server.era === "modern" || isShared(server)) return sharedKey;
  return canBeAsked(caller.capabilities) ? ownKey(caller) : `for ${capabilityKeyOf(caller.capabilities)}`;
}

/**
 * A modern client is asked by the answer to its call, so it must be certain which call a question belongs to: where the
 * wire does not tell, calls that are under way at the same time have conversations of their own.
 */
function freeKey(server: Server, caller: Caller): string {
  const first = keyFor(server, caller);
  if (caller.era === "legacy" || first === sharedKey || !canBeAsked(caller.capabilities)) return first;
  for (let n = 1, key = first; ; n += 1, key = `${first} ${n}`) {
    const entry = server.links.get(key);
    const isUsable = entry === undefined || entry.inFlight === 0 || entry.link?.tellsQuestionsApart === true;
    if (isUsable) return key;
  }
}
