// How many conversations a server has at the same time, and which of them goes first.
import { isSamePayer, shareOf } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import type { Caller } from "../mcp/exchange.ts";
import { type LinkEntry, sharedKey } from "./link-entry.ts";
import type { Server } from "./server.ts";

const linksMax = 64;

/**
 * For one more that is this caller's. Where its principal has its share, one of its own that nobody uses goes for it,
 * else the longest unused of all; never the one that everybody uses.
 */
export function makeSpace(server: Server, { principal }: Pick<Caller, "principal">): void {
  const all = [...new Set(server.links.values())];
  const own = all.filter(({ owner }) => owner !== undefined && isSamePayer(owner.principal, principal));
  const hasShare = own.length >= Math.max(1, shareOf(linksMax, all.length - own.length));
  if (!hasShare && all.length < linksMax) return;
  const shared = server.links.get(sharedKey);
  const idle = (hasShare ? own : all).filter(
    (entry) => entry.inFlight === 0 && entry.link !== undefined && entry !== shared,
  );
  idle.sort((a, b) => a.usedAt - b.usedAt);
  const [oldest] = idle;
  if (oldest === undefined) {
    const whose = hasShare ? `with ${own.length} conversations of yours` : "for others";
    throw new McpxError("too_many_sessions", `${server.name} is busy ${whose}`);
  }
  forgetEntry(server, oldest);
  void oldest.link?.close();
}

/**
 * Under whatever keys it is kept; `false` where it is not. The code that ends one forgets it first: that is no loss
 * then.
 */
export function forgetEntry({ links }: Server, entry: LinkEntry): boolean {
  const keys = [...links].filter(([, kept]) => kept === entry).map(([key]) => key);
  for (const key of keys) links.delete(key);
  return keys.length > 0;
}
