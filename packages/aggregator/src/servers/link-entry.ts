// One conversation with a server: what it is kept for, what it is kept under, and which of them is a caller's own.
import type { Link } from "../links/link.ts";
import { canBeAsked, capabilityKeyOf } from "../mcp/capability-key.ts";
import type { Caller } from "../mcp/exchange.ts";
import type { Lists } from "./list-slots.ts";
import type { Server } from "./server.ts";
import { StderrTail } from "./stderr-tail.ts";

export interface LinkEntry {
  readonly key: string;
  readonly opening: Promise<Link>;
  link: Link | undefined;
  /** The one caller it belongs to; shared ones belong to nobody. */
  owner: Caller | undefined;
  /** In the legacy era, beside the modern conversation that its lists come from. */
  readonly isBeside: boolean;
  /** What it lists, of one beside another; `undefined` where that has changed. */
  tools?: ReadonlySet<string> | undefined;
  /** Its lists are not what others' conversations list any more, and are nobody else's business. */
  lists?: Lists | undefined;
  inFlight: number;
  /** Monotonic ms. */
  usedAt: number;
  /** Since when it is open. */
  openedAt: number;
  /** What the server wrote to stderr in this conversation. */
  readonly stderrTail: StderrTail;
}

/** `open` is called at once, with the entry that will have what it gives. */
export function createLinkEntry(
  facts: Pick<LinkEntry, "key" | "owner" | "isBeside"> & { now: number },
  open: (entry: LinkEntry) => Promise<Link>,
): LinkEntry {
  const { now, ...rest } = facts;
  const entry = {
    ...rest,
    link: undefined,
    inFlight: 0,
    usedAt: now,
    openedAt: now,
    stderrTail: new StderrTail(),
  };
  return Object.assign(entry, { opening: open(entry as unknown as LinkEntry) });
}

/** Marks the entry's link as open. */
export function hasBegun(entry: LinkEntry, link: Link, now: number): void {
  entry.link = link;
  entry.openedAt = now;
  entry.usedAt = now;
}

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
