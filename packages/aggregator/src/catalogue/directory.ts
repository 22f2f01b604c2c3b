// All servers' lists in one, in the order of canonical names, and how clients see the names.
import { principalKey } from "@mcpx/host";
import { withRoot } from "@mcpx/protocol";
import { capabilityKeyOf } from "../mcp/capability-key.ts";
import type { Caller } from "../mcp/exchange.ts";
import type { ListKind } from "../mcp/list-kinds.ts";
import {
  type Dialect,
  type Rendered,
  renderedBeginning,
  renderName,
  renderNames,
} from "../names/dialects.ts";
import { segmentFor } from "../names/segment.ts";
import { ownEntry } from "../servers/link-entry.ts";
import type { Server } from "../servers/server.ts";
import { registeredOf } from "../servers/server-origin.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { personOf } from "../servers/users/person.ts";
import { ensureServersFor, findServerFor, findServersFor } from "../servers/users/server-for.ts";
import { type Entry, type Listed, listForCall, listOf, listSoon, listWithin } from "./catalogue.ts";
import type { ToolIndex } from "./rank-tools.ts";

export interface Directory {
  readonly parts: readonly (Listed | undefined)[];
  readonly entries: readonly Entry[];
  readonly renderings: Map<Dialect, Rendering>;
  /** Made when somebody searches in it. */
  toolIndex: ToolIndex | undefined;
}

interface Rendering {
  /** By `nameToRender`. */
  readonly shown: ReadonlyMap<string, string>;
  readonly meant: ReadonlyMap<string, Entry>;
}

const directoriesMax = 256;

/** Asks every server whose list is not good any more, all at once; each has its own time. [AX-5.1-1] */
export async function directoryFor(
  state: TreeState,
  kind: ListKind,
  caller: Caller,
  waitMs?: number,
): Promise<Directory> {
  const begun = state.turns?.count;
  const parts = await Promise.all(
    ensureServersFor(state, caller).map((server) => partOf(state, server, kind, caller, waitMs)),
  );
  if (state.turns?.count !== begun) await ownTurn(state, caller);
  const key = keyOf(state, kind, caller);
  const kept = state.directories;
  const known = kept.get(key);
  const isSame = known?.parts.length === parts.length && known.parts.every((part, i) => part === parts[i]);
  if (known !== undefined && isSame) return known;
  const [oldest] = kept.keys();
  if (kept.size >= directoriesMax && oldest !== undefined) kept.delete(oldest);
  const made = directoryOf(parts, merge(parts));
  kept.delete(key);
  kept.set(key, made);
  return made;
}

function directoryOf(parts: Directory["parts"], entries: Directory["entries"]): Directory {
  return { parts, entries, renderings: new Map(), toolIndex: undefined };
}

/** Many may have waited for one list: each goes on in its own time, not in that of the server that gave it. */
async function ownTurn({ turns }: TreeState, { principal }: Caller): Promise<void> {
  if (turns !== undefined) await turns.nextTurn(turns.account(principalKey(principal)));
}

/** It is out of the tree: what is remembered of what clients were shown does not keep its lists. */
export function forgetListed(state: TreeState, server: Server): void {
  const kept = state.directories;
  for (const [key, { entries }] of kept) {
    const others = entries.filter((entry) => entry.server !== server);
    if (others.length < entries.length) kept.set(key, directoryOf([], others));
  }
}

/** No list waits for a registered server that has never listed anything: it appears once it has. */
function partOf(state: TreeState, server: Server, kind: ListKind, caller: Caller, waitMs?: number) {
  const listing =
    waitMs === undefined
      ? listSoon(state, server, kind, caller)
      : listWithin(state, server, kind, caller, waitMs);
  if (registeredOf(server) === undefined || hasListed(server, kind)) return listing;
  void listing.then((listed) => {
    if (listed !== undefined && listed.entries.length > 0) state.events.listsChanged([kind]);
  });
  return undefined;
}

function hasListed({ lists }: Server, kind: ListKind): boolean {
  return [...lists.values()].some((slots) => slots[kind].listed !== undefined);
}

function merge(parts: readonly (Listed | undefined)[]): Entry[] {
  const all = parts.flatMap((part) => part?.entries ?? []);
  const sorted = all.sort((a, b) => (a.canonical < b.canonical ? -1 : 1));
  // Only what is mounted at the root can fall together with others, and it shadows nothing. [AX-3.1-1]
  return sorted.filter(
    (entry, i) =>
      !(
        entry.server.segment === undefined &&
        (sorted[i - 1]?.canonical === entry.canonical || sorted[i + 1]?.canonical === entry.canonical)
      ),
  );
}

/** The name this client sees. What is mounted at a root without a segment keeps its own. */
export function shownName({ entries, renderings }: Directory, entry: Entry, caller: Caller): string {
  const { server, name, canonical, fullName, isRenamed } = entry;
  const { dialect } = caller;
  if (dialect !== "canonical")
    return renderingOf(entries, renderings, dialect).shown.get(nameToRender(entry, dialect)) ?? fullName;
  if (fullName !== canonical) return seesRoot(caller) ? fullName : canonical;
  return server.segment === undefined && !isRenamed ? name : canonical;
}

/** In a room the tree's id stands before its names, and a parent puts its own segment there. [AX-3.1-1] */
export function seesRoot({ isParent, isPublic }: Caller): boolean {
  return isParent !== true && isPublic !== true;
}

/** What a rendered name means; `undefined` for clients that see canonical names. */
export async function renderedEntry(
  state: TreeState,
  kind: "tools" | "prompts",
  name: string,
  caller: Caller,
): Promise<Entry | undefined> {
  const { dialect } = caller;
  if (dialect === "canonical") return undefined;
  const meaning = ({ entries, renderings }: Directory) =>
    renderingOf(entries, renderings, dialect).meant.get(name);
  // As it was shown last: a call waits for no server but its own.
  const shown = state.directories.get(keyOf(state, kind, caller));
  const known = shown && (await current(state, kind, meaning(shown), caller));
  return (
    known ??
    (await entryOfOne(state, kind, { name, dialect }, caller)) ??
    meaning(await directoryFor(state, kind, caller))
  );
}

/** A rendering begins as its server's segment does: only that server is asked, where its list settles it. */
async function entryOfOne(
  state: TreeState,
  kind: "tools" | "prompts",
  { name, dialect }: { name: string; dialect: Rendered },
  caller: Caller,
): Promise<Entry | undefined> {
  const servers = ensureServersFor(state, caller).filter(({ segment }) => {
    const roots = segment === undefined ? [] : [segment, withRoot(state.rootSegment, segment)];
    return roots.some((root) => name.startsWith(renderedBeginning(root, dialect)));
  });
  const lists = await Promise.all(servers.map((server) => listOf(state, server, kind, caller)));
  const isMeant = ({ fullName, canonical }: Entry) =>
    renderName(fullName, dialect) === name || renderName(canonical, dialect) === name;
  const [only, ...others] = lists.flatMap((listed) => listed?.entries.filter(isMeant) ?? []);
  return others.length === 0 ? only : undefined;
}

/** What its server lists under that name now, if it is still there. */
async function current(
  state: TreeState,
  kind: ListKind,
  entry: Entry | undefined,
  caller: Caller,
): Promise<Entry | undefined> {
  if (entry === undefined || entry.server.degraded !== undefined) return undefined;
  const { segment } = entry.server;
  const there = segment === undefined ? state.root : state.bySegment.get(segment);
  if (there === undefined || findServerFor(state, there, caller) !== entry.server) return undefined;
  const listed = await listForCall(state, entry.server, kind, caller);
  return listed?.byCanonical.get(entry.canonical);
}

/** Where some servers are another one for each user, or list something else to this caller, so is the whole. */
function keyOf(state: TreeState, kind: ListKind, caller: Caller): string {
  const capabilityKey = capabilityKeyOf(caller.capabilities);
  const hasOwn = findServersFor(state, caller).some(
    (server) => ownEntry(server, caller)?.lists !== undefined,
  );
  if (hasOwn) return JSON.stringify([kind, capabilityKey, personOf(caller)?.name, caller.key]);
  return state.isPersonal
    ? JSON.stringify([kind, capabilityKey, personOf(caller)?.name])
    : `${kind} ${capabilityKey}`;
}

/** What is mounted at the root keeps the name its server gives it, where that is one of the dialect and of no other. */
function nameToRender(entry: Entry, dialect: Rendered): string {
  const { server, name, canonical, fullName, isRenamed } = entry;
  if (server.segment !== undefined || isRenamed || fullName !== canonical) return fullName;
  return segmentFor(name) === canonical && renderName(name, dialect) === name ? name : fullName;
}

function renderingOf(
  entries: readonly Entry[],
  renderings: Map<Dialect, Rendering>,
  dialect: Rendered,
): Rendering {
  const known = renderings.get(dialect);
  if (known !== undefined) return known;
  const render = (nameOf: (entry: Entry) => string) => {
    const names = renderNames(entries.map(nameOf), dialect);
    return { names, meant: entries.map((entry) => [names.get(nameOf(entry)) as string, entry] as const) };
  };
  const { names: shown, meant } = render((entry) => nameToRender(entry, dialect));
  // Names without the root's segment are understood where they mean nothing else.
  const isRooted = entries.some(({ canonical, fullName }) => canonical !== fullName);
  const short = isRooted ? render(({ canonical }) => canonical).meant : [];
  const made = { shown, meant: new Map([...short, ...meant]) };
  renderings.set(dialect, made);
  return made;
}
