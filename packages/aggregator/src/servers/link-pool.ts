// How many conversations a server has at the same time, and which of them goes first.
import { McpxError } from "@mcpx/protocol";
import type { LinkEntry } from "./link-entry.ts";
import { sharedKey } from "./link-keys.ts";
import type { Server } from "./server.ts";

const linksMax = 64;

/** The longest unused one goes, if there are too many; never the one that everybody uses. */
export function makeRoom(server: Server): void {
  if (server.links.size < linksMax) return;
  const shared = server.links.get(sharedKey);
  const idle = [...server.links.values()].filter(
    (entry) => entry.inFlight === 0 && entry.link !== undefined && entry !== shared,
  );
  idle.sort((a, b) => a.usedAt - b.usedAt);
  const [oldest] = idle;
  if (oldest === undefined) throw new McpxError("too_many_sessions", `${server.name} is busy for others`);
  forgetEntry(server, oldest);
  void oldest.link?.close();
}

/** Under whatever keys it is kept; `false` where it is not. Whoever ends one forgets it first: that is no loss then. */
export function forgetEntry({ links }: Server, entry: LinkEntry): boolean {
  const keys = [...links].filter(([, kept]) => kept === entry).map(([key]) => key);
  for (const key of keys) links.delete(key);
  return keys.length > 0;
}
