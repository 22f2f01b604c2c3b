// What servers list, cached per server and per what the caller can: some servers offer more to clients that can answer
// questions. What a caller has to itself, a conversation in which lists have become its own included, is cached for it
// alone. A list is asked for again after its time, after `list_changed`, and in a new conversation. [AX-5.1-1]
import type { Capability, JsonObject } from "@mcpx/protocol";
import { isMcpxError } from "@mcpx/protocol";
import type { Caller } from "./exchange.ts";
import { type FetchedList, fetchList, type ListKind, listKinds } from "./fetch-list.ts";
import { ownEntry } from "./link-keys.ts";
import { applyOverrides, type FixedArguments } from "./overrides.ts";
import { checkPins } from "./pins.ts";
import { readEntries } from "./read-entries.ts";
import { isDegraded, type LinkEntry, type Server } from "./server.ts";
import { shapeOf } from "./shape.ts";
import type { TreeState } from "./tree-state.ts";

/** One tool, prompt, resource or template, with what it is called here and there. */
export interface Entry {
  readonly server: Server;
  /** At its server: a name, a URI or a URI template. */
  readonly name: string;
  /** In the tree, dotted, without the root's segment; resources and templates: the prefixed URI. */
  readonly canonical: string;
  /** As clients and people see it, with the root's segment where the tree has one. [AX-3.1-1] */
  readonly fullName: string;
  /** As the server listed it, and the operator has changed it. */
  readonly item: JsonObject;
  /** As the server listed it, where the operator has changed it. */
  readonly listed?: JsonObject | undefined;
  /** Tools only. */
  readonly capability: Readonly<Capability> | undefined;
  /** Arguments every call gets. */
  readonly fixed: FixedArguments | undefined;
  /** The operator calls it something else than its server does. */
  readonly isRenamed: boolean;
}

/** A tool that is there and not shown. */
export interface HeldTool {
  /** At its server. */
  readonly name: string;
  readonly why: "disabled" | "quarantined";
}

export interface Listed {
  /** In the order of their canonical names. */
  readonly entries: readonly Entry[];
  readonly byCanonical: ReadonlyMap<string, Entry>;
  readonly byName: ReadonlyMap<string, Entry>;
  /** By canonical name. */
  readonly held: ReadonlyMap<string, HeldTool>;
  /** What could not be listed, for people. */
  readonly leftOut: readonly string[];
  /** What the operator has set and does not fit, for people. */
  readonly overrideFaults: readonly string[];
  /** Monotonic ms. */
  readonly goodUntil: number;
  readonly isPrivate: boolean;
}

interface Slot {
  listed: Listed | undefined;
  /** It could not be had, and is not asked for again before this (monotonic ms). */
  failedUntil: number;
  fetching: Promise<Listed | undefined> | undefined;
}

export type Lists = Record<ListKind, Slot>;

const shapesMax = 16;
/** Of what was left out, in the log. */
const shownMax = 20;
/** Nobody waits twice in a row for a server that does not list. */
const listAgainMs = 5_000;

/**
 * A server's list as it is good for this caller: from the cache, else from the server, within the server's own time.
 * `undefined` where it cannot be had; the server's `fault` says why.
 */
export async function listOf(
  state: TreeState,
  server: Server,
  kind: ListKind,
  caller: Caller,
): Promise<Listed | undefined> {
  const slot = slotOf(server, kind, caller);
  const now = state.clock.monotonic();
  if (slot.listed !== undefined && slot.listed.goodUntil > now) return slot.listed;
  if (slot.failedUntil > now) return slot.listed;
  slot.fetching ??= refill(state, server, kind, caller, slot).finally(() => {
    slot.fetching = undefined;
  });
  return await slot.fetching;
}

/** What is known without asking anybody, however old. */
export function knownList(server: Server, kind: ListKind, caller: Caller): Listed | undefined {
  return slotOf(server, kind, caller).listed;
}

/** The server says that its lists have changed: they are read again, and good for calls until then. */
export function expireLists(server: Server, kinds: readonly ListKind[]): void {
  replaceSlots(server, kinds, expired);
}

function expired({ listed }: Slot): Slot {
  return { ...empty(), listed: listed && { ...listed, goodUntil: Number.NEGATIVE_INFINITY } };
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

/** Others, so that what is being read meanwhile is not kept. */
function replaceSlots(server: Server, kinds: readonly ListKind[], replace: (slot: Slot) => Slot): void {
  const own = [...server.links.values()].flatMap(({ lists }) => lists ?? []);
  for (const lists of [...server.lists.values(), ...own]) replaceIn(lists, kinds, replace);
}

function replaceIn(lists: Lists, kinds: readonly ListKind[], replace: (slot: Slot) => Slot): void {
  for (const kind of kinds) lists[kind] = replace(lists[kind]);
}

/** From now on this conversation's lists are its caller's alone; what is known stays good for calls until they are read. */
export function partLists(server: Server, entry: LinkEntry): void {
  if (entry.owner === undefined || entry.lists !== undefined) return;
  const shared = server.lists.get(shapeOf(entry.owner.capabilities));
  entry.lists = emptyLists();
  for (const kind of listKinds) entry.lists[kind] = expired(shared?.[kind] ?? empty());
}

/** The same for one conversation's own. */
export function expireOwnLists({ lists }: LinkEntry, kinds: readonly ListKind[]): void {
  if (lists !== undefined) replaceIn(lists, kinds, expired);
}

async function refill(
  state: TreeState,
  server: Server,
  kind: ListKind,
  caller: Caller,
  slot: Slot,
): Promise<Listed | undefined> {
  try {
    const listed = toListed(state, server, kind, await fetchList(state, server, kind, caller));
    // Forgotten meanwhile: good for those who wait, not for keeping.
    if (slotOf(server, kind, caller) === slot) {
      slot.listed = listed;
      server.listFaults.delete(kind);
    }
    return listed;
  } catch (error) {
    const fault = isMcpxError(error) ? error.detail : String(error);
    // What the lost conversation has listed for anybody, until its grace is over.
    slot.listed = isDegraded(server, state.clock.monotonic()) ? lostList(server, kind, slot) : undefined;
    slot.failedUntil = server.fault?.retryAt ?? state.clock.monotonic() + listAgainMs;
    server.listFaults.set(kind, fault);
    state.log.warn({ server: server.name, kind, fault }, "a server's list could not be read");
    return slot.listed;
  }
}

function lostList({ lists }: Server, kind: ListKind, { listed }: Slot): Listed | undefined {
  return listed ?? [...lists.values()].map((slots) => slots[kind].listed).find((one) => one !== undefined);
}

function toListed(state: TreeState, server: Server, kind: ListKind, fetched: FetchedList): Listed {
  const {
    entries: named,
    disabled,
    leftOut: unnamed,
    overrideFaults,
  } = readEntries(server, kind, fetched.items, state.rootSegment);
  // As their server lists them: what the operator changes is no change of theirs.
  const {
    kept,
    quarantined,
    leftOut: unpinned,
  } = kind === "tools" ? checkPins(state, server, named) : all(named);
  const entries = kind === "tools" ? kept.map((entry) => overridden(server, entry)) : kept;
  const leftOut = [...fetched.leftOut, ...unnamed, ...unpinned];
  for (const [what, found] of [
    ["left out of the tree", leftOut],
    ["set for tools or arguments that are not there", overrideFaults],
  ] as const) {
    if (found.length === 0) continue;
    const faults = found.slice(0, shownMax);
    state.log.warn({ server: server.name, kind, count: found.length, faults }, what);
  }
  return {
    entries,
    byCanonical: new Map(entries.map((entry) => [entry.canonical, entry])),
    byName: new Map(entries.map((entry) => [entry.name, entry])),
    held: new Map([...held(disabled, "disabled"), ...held(quarantined, "quarantined")]),
    leftOut,
    overrideFaults,
    goodUntil: state.clock.monotonic() + fetched.ttlMs,
    isPrivate: fetched.isPrivate,
  };
}

function all(kept: Entry[]): ReturnType<typeof checkPins> {
  return { kept, quarantined: [], leftOut: [] };
}

function overridden({ overrides }: Server, entry: Entry): Entry {
  const override = overrides?.tools.get(entry.name);
  return override === undefined ? entry : applyOverrides(entry, override);
}

function held(entries: readonly Entry[], why: HeldTool["why"]): [string, HeldTool][] {
  return entries.map(({ canonical, name }) => [canonical, { name, why }]);
}

function slotOf(server: Server, kind: ListKind, caller: Caller): Slot {
  const own = ownEntry(server, caller)?.lists;
  if (own !== undefined) return own[kind];
  const shape = shapeOf(caller.capabilities);
  let lists = server.lists.get(shape);
  if (lists === undefined) {
    const [oldest] = server.lists.keys();
    if (server.lists.size >= shapesMax && oldest !== undefined) server.lists.delete(oldest);
    lists = emptyLists();
    server.lists.set(shape, lists);
  }
  return lists[kind];
}

function emptyLists(): Lists {
  return { tools: empty(), prompts: empty(), resources: empty(), templates: empty() };
}

function empty(): Slot {
  return { listed: undefined, fetching: undefined, failedUntil: Number.NEGATIVE_INFINITY };
}
