// What conversations are kept under, and which of them is a caller's own. Pure.

import { canBeAsked, capabilityKeyOf } from "../mcp/capability-key.ts";
import type { Caller } from "../mcp/exchange.ts";
import type { LinkEntry } from "./link-entry.ts";
import type { Server } from "./server.ts";

/** The one that everybody shares, where the era of the server allows it. */
export const sharedKey = "";

export function ownKey({ key, capabilities }: Caller): string {
  return `of ${key} ${capabilityKeyOf(capabilities)}`;
}

/** Of its legacy conversation beside a modern one. */
export function besideKey({ key, capabilities }: Caller): string {
  return `beside ${key} ${capabilityKeyOf(capabilities)}`;
}

/** The legacy conversation a caller has to itself at a server of both eras, once it is open. */
export function openBeside({ links, era }: Server, caller: Caller): LinkEntry | undefined {
  if (era !== "modern" || caller.era !== "legacy" || !canBeAsked(caller.capabilities)) return undefined;
  const entry = links.get(besideKey(caller));
  return entry?.link === undefined ? undefined : entry;
}

/** The conversation that is a caller's alone, whichever eras meet in it. */
export function ownEntry(server: Server, caller: Caller): LinkEntry | undefined {
  if (!canBeAsked(caller.capabilities)) return undefined;
  if (server.era === "modern") return openBeside(server, caller);
  const entry = server.links.get(ownKey(caller));
  return entry?.owner === undefined ? undefined : entry;
}
