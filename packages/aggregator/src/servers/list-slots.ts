// Where lists are kept: for each server by what callers can, and for a caller whose conversation has become its own.
import type { Listed } from "../catalogue/catalogue.ts";
import { capabilityKeyOf } from "../mcp/capability-key.ts";
import type { Caller } from "../mcp/exchange.ts";
import { type ListKind, listKinds } from "../mcp/list-kinds.ts";
import { type LinkEntry, ownEntry } from "./link-entry.ts";
import type { Server } from "./server.ts";

export interface Slot {
  listed: Listed | undefined;
  /** It could not be had, and is not asked for again before this (monotonic ms). */
  failedUntil: number;
  fetching: Promise<Listed | undefined> | undefined;
  /** The server has said that it has changed: while it is being read, or since. */
  isOutdated: boolean;
  wasTold: boolean;
}

export type Lists = Record<ListKind, Slot>;

const shapesMax = 16;
/** A server whose word that something has changed was wrong so often in a row is not believed at once. */
const falseAlarmsMax = 3;
/** Its lists are read again after this, when somebody wants them. */
const doubtMs = 5_000;

/** Where this caller's list is, if there is one. Changes nothing. */
export function findSlot(server: Server, kind: ListKind, caller: Caller): Slot | undefined {
  const lists = ownEntry(server, caller)?.lists ?? server.lists.get(capabilityKeyOf(caller.capabilities));
  return lists?.[kind];
}

/** The same, made where there is none; of very many, the oldest goes. */
export function ensureSlot(server: Server, kind: ListKind, caller: Caller): Slot {
  const found = findSlot(server, kind, caller);
  if (found !== undefined) return found;
  const [oldest] = server.lists.keys();
  if (server.lists.size >= shapesMax && oldest !== undefined) server.lists.delete(oldest);
  const lists = emptyLists();
  server.lists.set(capabilityKeyOf(caller.capabilities), lists);
  return lists[kind];
}

/** What is kept for other kinds of clients, to make room; false where there is nothing. */
export function forgetOtherLists({ lists }: Server, caller: Caller): boolean {
  const own = capabilityKeyOf(caller.capabilities);
  const others = [...lists.keys()].filter((key) => key !== own);
  for (const key of others) lists.delete(key);
  return others.length > 0;
}

/**
 * The server says that its lists have changed: they are read again, and good for calls until then. `false` where nobody
 * is told now: every list is being read at this moment, and its reader says whether it is another one, or the server
 * says so all the time.
 */
export function outdateLists(server: Server, kinds: readonly ListKind[], now: number): boolean {
  const isIdle = kinds.some((kind) => isDoubted(server, kind));
  let isBeingRead = false;
  let isKnown = false;
  replaceSlots(server, kinds, (slot) => {
    if (slot.fetching !== undefined) {
      isBeingRead = true;
      return Object.assign(slot, { isOutdated: true });
    }
    isKnown ||= slot.listed !== undefined;
    if (!isIdle || slot.listed === undefined) return { ...expired(slot), wasTold: true };
    const goodUntil = Math.min(slot.listed.goodUntil, now + doubtMs);
    return { ...slot, listed: { ...slot.listed, goodUntil } };
  });
  return !isIdle && (isKnown || !isBeingRead);
}

/** Whether the server's `list_changed` was wrong too often. */
export function isDoubted({ falseAlarms }: Server, kind: ListKind): boolean {
  return (falseAlarms.get(kind) ?? 0) >= falseAlarmsMax;
}

/** Its conversation is lost: the same, and what is being read is not kept. */
export function expireLists(server: Server, kinds: readonly ListKind[]): void {
  replaceSlots(server, kinds, expired);
}

/** Its conversation is over, and nothing of its lists outlives it. [AX-13.1-2] */
export function forgetLists(server: Server): void {
  replaceSlots(server, listKinds, empty);
}

/** The same when a new conversation has begun: what is being read is being read from that one. */
export function renewLists(server: Server, kinds: readonly ListKind[] = listKinds): void {
  replaceSlots(server, kinds, (slot) =>
    slot.fetching === undefined ? empty() : Object.assign(slot, { listed: undefined }),
  );
}

/** The server lists again: callers that could not be shown the list may ask at once. */
export function forgiveLists(server: Server, kind: ListKind): void {
  replaceSlots(server, [kind], (slot) => Object.assign(slot, { failedUntil: Number.NEGATIVE_INFINITY }));
}

/** From now on this conversation's lists are its caller's alone; what is known stays good for calls until they are read. */
export function partLists(server: Server, entry: LinkEntry): void {
  if (entry.owner === undefined || entry.lists !== undefined) return;
  const shared = server.lists.get(capabilityKeyOf(entry.owner.capabilities));
  entry.lists = emptyLists();
  for (const kind of listKinds) {
    const listed = shared?.[kind].listed;
    entry.lists[kind] = { ...empty(), listed: listed && { ...listed, goodUntil: 0 } };
  }
}

/** One conversation's own have changed. */
export function expireOwnLists({ lists }: LinkEntry, kinds: readonly ListKind[]): void {
  if (lists !== undefined) replaceIn(lists, kinds, expired);
}

/** Others, so that what is being read meanwhile is not kept. */
function replaceSlots(server: Server, kinds: readonly ListKind[], replace: (slot: Slot) => Slot): void {
  const own = [...server.links.values()].flatMap(({ lists }) => lists ?? []);
  for (const lists of [...server.lists.values(), ...own]) replaceIn(lists, kinds, replace);
}

function replaceIn(lists: Lists, kinds: readonly ListKind[], replace: (slot: Slot) => Slot): void {
  for (const kind of kinds) lists[kind] = replace(lists[kind]);
}

function expired({ listed }: Slot): Slot {
  return { ...empty(), listed: listed && { ...listed, goodUntil: Number.NEGATIVE_INFINITY } };
}

function emptyLists(): Lists {
  return { tools: empty(), prompts: empty(), resources: empty(), templates: empty() };
}

function empty(): Slot {
  return {
    listed: undefined,
    fetching: undefined,
    failedUntil: Number.NEGATIVE_INFINITY,
    isOutdated: false,
    wasTold: false,
  };
}
