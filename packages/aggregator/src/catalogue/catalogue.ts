// What servers list, cached per server and per what the caller can: some servers offer more to clients that can answer
// questions. What a caller has to itself, a conversation in which lists have become its own included, is cached for it
// alone. A list is asked for again after its time, after `list_changed`, and in a new conversation. [AX-5.1-1]
import { hash } from "node:crypto";
import type { Capability, JsonObject } from "@mcpx/protocol";
import { isDefinitionSmuggling, isMcpxError } from "@mcpx/protocol";
import type { Caller } from "../mcp/exchange.ts";
import type { ListKind } from "../mcp/list-kinds.ts";
import { innerPrincipal, plainCaller } from "../mcp/plain-caller.ts";
import { type ListCapacity, openListCapacity } from "../servers/list-capacity.ts";
import {
  ensureSlot,
  findSlot,
  forgetOtherLists,
  forgiveLists,
  isDoubted,
  type Slot,
} from "../servers/list-slots.ts";
import { hasAnswered, hasKeptWaiting } from "../servers/mute.ts";
import { isDegraded, type Server } from "../servers/server.ts";
import { userOf } from "../servers/server-origin.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { findServersFor } from "../servers/users/server-for.ts";
import { type FetchedList, fetchList } from "./fetch-list.ts";
import { applyOverrides, type FixedArguments } from "./overrides.ts";
import { type Checked, checkPins } from "./pins.ts";
import { readEntries } from "./read-entries.ts";

/** One tool, prompt, resource or template, with what it is called here and there. */
export interface Entry {
  readonly server: Server;
  /** At its server: a name, a URI or a URI template. */
  readonly name: string;
  /** In the tree, dotted, without the root's segment; resources and templates: the prefixed URI. */
  readonly canonical: string;
  /** As clients and people see it, with the root's segment where the tree has one. [AX-3.1-1] */
  readonly fullName: string;
  /** As the server listed it, and a scanner or the operator has changed it. */
  readonly item: JsonObject;
  /** As the server listed it, where that is not the same. */
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
  /** The entry's name at its server. */
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
  /** Monotonic ms; long ago where the server has said that it has changed. */
  readonly goodUntil: number;
  /** Digest of what the server has listed. */
  readonly digest: string;
  readonly isPrivate: boolean;
  /** The memory it takes. */
  readonly bytes: number;
}

/** Of what was left out, in the log. */
const shownMax = 20;
/** Of what was left out, with the list. */
const leftOutMax = 100;
/** A server that could not be listed is not asked before this. */
const listAgainMs = 5_000;
/** A caller who can be shown an older list waits this long for a newer one. */
const staleWaitMs = 1_000;
/** A failure that took longer than this has delayed a client. */
const slowFailureMs = 1_000;
const readsMax = 3;
/** The tree itself asks, as a client that can nothing. */
const nobody = plainCaller(innerPrincipal("tree", ["**"]), "tree");

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
  const slot = ensureSlot(server, kind, caller);
  const now = state.clock.monotonic();
  if (slot.listed !== undefined && slot.listed.goodUntil > now) return slot.listed;
  if (slot.failedUntil > now) return slot.listed;
  slot.fetching ??= refill(state, server, kind, caller, slot).finally(() => {
    slot.fetching = undefined;
  });
  return await slot.fetching;
}

/**
 * The same for those who want many servers' lists, or have an old one to go by: nobody waits for a server that has kept
 * a list waiting before, and only a moment where there is something to show. What comes later is a `list_changed`.
 */
export async function listSoon(
  state: TreeState,
  server: Server,
  kind: ListKind,
  caller: Caller,
  waitMs = staleWaitMs,
): Promise<Listed | undefined> {
  const listing = listOf(state, server, kind, caller);
  const { listed: known, fetching } = ensureSlot(server, kind, caller);
  if (fetching === undefined) return await listing;
  const isMute = server.mute.has(kind);
  if (!isMute && known === undefined) return await listing;
  const found = isMute ? late : await within(listing, waitMs);
  if (found !== late) return found;
  void listing.then((listed) => {
    if (listed?.digest !== known?.digest) state.events.listsChanged([kind], userOf(server));
  });
  return known;
}

/**
 * For pages that people look at: after this time what is known, whatever the server does. Whose lists are still to
 * come is in `listsAwaited`.
 */
export async function listWithin(
  state: TreeState,
  server: Server,
  kind: ListKind,
  caller: Caller,
  waitMs: number,
): Promise<Listed | undefined> {
  const found = await within(listSoon(state, server, kind, caller, waitMs), waitMs);
  return found === late ? knownList(server, kind, caller) : found;
}

const late = Symbol("late");

/** The promise goes on. */
async function within<T>(work: Promise<T>, ms: number): Promise<T | typeof late> {
  const { promise, resolve } = Promise.withResolvers<typeof late>();
  const timer = setTimeout(() => resolve(late), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * What a call goes by: what is known, however old, since a call waits for no list it can do without. Only where the
 * server itself has said that it has changed is it read again first, or used as it is where that takes too long.
 */
export async function listForCall(
  state: TreeState,
  server: Server,
  kind: ListKind,
  caller: Caller,
): Promise<Listed | undefined> {
  const known = knownList(server, kind, caller);
  const isOutdated = known?.goodUntil === Number.NEGATIVE_INFINITY;
  return isOutdated ? await listSoon(state, server, kind, caller) : known;
}

/** Servers whose list is being read, and is still waited for by those who want it. */
export function listsAwaited(state: TreeState, kind: ListKind, caller: Caller): string[] {
  return findServersFor(state, caller)
    .filter((server) => !server.mute.has(kind) && findSlot(server, kind, caller)?.fetching !== undefined)
    .map(({ name }) => name);
}

/** What is known without asking anybody, however old. */
export function knownList(server: Server, kind: ListKind, caller: Caller): Listed | undefined {
  return findSlot(server, kind, caller)?.listed;
}

async function refill(
  state: TreeState,
  server: Server,
  kind: ListKind,
  caller: Caller,
  slot: Slot,
): Promise<Listed | undefined> {
  const startedAt = state.clock.monotonic();
  const { listed: before, wasTold } = slot;
  slot.wasTold = false;
  const capacity = openListCapacity(state.listCapacity, {
    server,
    now: () => state.clock.monotonic(),
    replaced: () => slot.listed,
    forgetOthers: () => forgetOtherLists(server, caller),
  });
  let kept: { replaces: Listed | undefined } | undefined;
  try {
    const { listed, cut, wasOutdated } = await readUntilSettled(state, server, kind, caller, slot, capacity);
    const wasMissed = server.mute.has(kind) || server.listFaults.has(kind);
    if (wasMissed) isBack(state, server, kind);
    if (before !== undefined) noteAlarm(state, server, kind, { isFalse: wasTold, before, listed });
    // Nobody was told when the server said it: others may have read what was there before.
    if (wasOutdated && before !== undefined && before.digest !== listed.digest)
      state.events.listsChanged([kind], userOf(server));
    // Forgotten meanwhile: good for those who wait, not for keeping.
    if (!server.isRetired && findSlot(server, kind, caller) === slot) {
      kept = { replaces: slot.listed };
      slot.listed = listed;
      noteCut(state, server, kind, listed, cut);
    }
    return listed;
  } catch (error) {
    const fault = isMcpxError(error) ? error.detail : String(error);
    const now = state.clock.monotonic();
    // What the lost conversation has listed for anybody, until its grace is over.
    slot.listed = isDegraded(server, now) ? lostList(server, kind, slot) : undefined;
    slot.failedUntil = server.fault?.retryAt ?? now + listAgainMs;
    server.listFaults.set(kind, fault);
    const isLate = isMcpxError(error) && error.code === "timeout";
    if (isLate || now - startedAt > slowFailureMs)
      hasKeptWaiting(state, server, kind, () => listOf(state, server, kind, nobody));
    state.log.warn({ server: server.name, kind, fault }, "could not list a server");
    return slot.listed;
  } finally {
    capacity.close(kept);
  }
}

function noteCut(
  state: TreeState,
  server: Server,
  kind: ListKind,
  { entries }: Listed,
  cut: string | undefined,
): void {
  if (cut === undefined) {
    server.listFaults.delete(kind);
    return;
  }
  const fault = `${cut}; ${entries.length} are listed, the rest is left out`;
  server.listFaults.set(kind, fault);
  state.log.warn({ server: server.name, kind, fault }, "server list too large; the rest was left out");
}

/**
 * A change that is told while the list is read may be in it or not, so it is read again; but some servers tell of one
 * whenever they are asked. What they list twice the same is what they have.
 */
async function readUntilSettled(
  state: TreeState,
  server: Server,
  kind: ListKind,
  caller: Caller,
  slot: Slot,
  capacity: ListCapacity,
): Promise<{ listed: Listed; cut: string | undefined; wasOutdated: boolean }> {
  let digest: string | undefined;
  let wasOutdated = false;
  for (let reads = 1; ; reads += 1) {
    slot.isOutdated = false;
    // When a list is read several times, the last reading counts.
    capacity.restart();
    const fetched = await fetchList(state, server, kind, caller, capacity);
    const last = digest;
    digest = hash("sha256", JSON.stringify(fetched.items));
    const isSettled = !slot.isOutdated || digest === last;
    wasOutdated ||= slot.isOutdated;
    if (!isSettled && reads < readsMax) continue;
    const isGood = isSettled && fetched.cut === undefined;
    const ttlMs = isGood ? fetched.ttlMs : Math.min(fetched.ttlMs, listAgainMs);
    const listed = await toListed(
      state,
      server,
      kind,
      { ...fetched, ttlMs },
      { digest, bytes: capacity.bytes },
    );
    return { listed, cut: fetched.cut, wasOutdated };
  }
}

/** Others have been shown a list without it, and shall not have to wait to see it. */
function isBack(state: TreeState, server: Server, kind: ListKind): void {
  hasAnswered(server, kind);
  forgiveLists(server, kind);
  state.events.listsChanged([kind], userOf(server));
}

/** Whether a server's word that its list has changed was worth anything. */
function noteAlarm(
  state: TreeState,
  server: Server,
  kind: ListKind,
  { isFalse, before, listed }: { isFalse: boolean; before: Listed; listed: Listed },
): void {
  if (before.digest === listed.digest) {
    if (isFalse) server.falseAlarms.set(kind, (server.falseAlarms.get(kind) ?? 0) + 1);
    return;
  }
  // Nobody was told when the server said it.
  if (isDoubted(server, kind)) state.events.listsChanged([kind], userOf(server));
  server.falseAlarms.delete(kind);
}

function lostList({ lists }: Server, kind: ListKind, { listed }: Slot): Listed | undefined {
  return listed ?? [...lists.values()].map((slots) => slots[kind].listed).find((one) => one !== undefined);
}

async function toListed(
  state: TreeState,
  server: Server,
  kind: ListKind,
  fetched: FetchedList,
  { digest, bytes }: Pick<Listed, "digest" | "bytes">,
): Promise<Listed> {
  const {
    entries: named,
    disabled,
    leftOut: unnamed,
    overrideFaults,
  } = readEntries(server, kind, fetched.items, state.rootSegment);
  // As their server lists them: what scanners and the operator change is no change of theirs.
  const scanned = kind === "tools" ? await state.scanDefinitions(state, named) : undefined;
  const {
    kept,
    quarantined,
    leftOut: unpinned,
  } = scanned === undefined ? plain(named) : await checkPins(state, server, named, scanned);
  const entries =
    scanned === undefined ? kept : kept.map((entry) => overridden(server, scanned.shown(entry)));
  const ttlMs = scanned?.unjudged.size ? Math.min(fetched.ttlMs, listAgainMs) : fetched.ttlMs;
  const missing = [...fetched.leftOut, ...unnamed, ...unpinned];
  const leftOut = missing.slice(0, leftOutMax);
  if (missing.length > leftOutMax) leftOut.push(`${missing.length - leftOutMax} more`);
  for (const [what, found] of [
    ["left out of the tree", missing],
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
    goodUntil: state.clock.monotonic() + ttlMs,
    digest,
    isPrivate: fetched.isPrivate,
    bytes,
  };
}

/** A prompt or resource that says to a model what no person sees is not there; a tool waits until it was looked at. */
function plain(entries: Entry[]): Checked {
  const hiding = new Set(entries.filter(({ item }) => isDefinitionSmuggling(item)));
  return {
    kept: entries.filter((entry) => !hiding.has(entry)),
    quarantined: [],
    leftOut: [...hiding].map(({ name }) => `${name}: its definition hides text`),
  };
}

function overridden({ overrides }: Server, entry: Entry): Entry {
  const override = overrides?.tools.get(entry.name);
  return override === undefined ? entry : applyOverrides(entry, override);
}

function held(entries: readonly Entry[], why: HeldTool["why"]): [string, HeldTool][] {
  return entries.map(({ canonical, name }) => [canonical, { name, why }]);
}
