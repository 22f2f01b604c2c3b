// Which conversation a caller's request goes into. A modern server has one for all: every request says what its caller
// can (`legacy-beside.ts` is what one of both eras has beside it). A legacy server is told once, at the beginning, so callers who can be asked things get a conversation of their
// own, and a question can never reach somebody else; all others share.
import { heapBytesOf, isMcpxError, McpxError } from "@mcpx/protocol";
import { announceChange } from "./announce.ts";
import { awaitingFault, isAwaiting } from "./awaited-authorisation.ts";
import { noteDeath } from "./crash-loop.ts";
import { degrade, restore } from "./degrade.ts";
import type { Caller } from "./exchange.ts";
import { hear } from "./hear.ts";
import { stopWhenIdle } from "./idle-stop.ts";
import { openBeside, ownKey, sharedKey } from "./link-keys.ts";
import type { Link } from "./links/link.ts";
import { renewLists } from "./list-slots.ts";
import { tuneLogs } from "./log-levels.ts";
import { hasOpened } from "./mute.ts";
import { lastWords, Remarks } from "./remarks.ts";
import { RpcError } from "./rpc-error.ts";
import type { LinkEntry, Server } from "./server.ts";
import { checkSetback, noteOwnDeath, noteRefusal } from "./setbacks.ts";
import { canBeAsked, capabilitiesOf, shapeOf } from "./shape.ts";
import { watchAgain } from "./subscriptions.ts";
import { tellLostTo } from "./tell.ts";
import type { TreeState } from "./tree-state.ts";

export interface UsableLink {
  link: Link;
  entry: LinkEntry;
}

const linksMax = 64;
const retryMsMin = 1_000;
const retryMsMax = 60_000;

/** Throws, or its opening rejects, with `server_unreachable` or `too_many_sessions`; the server's `fault` is kept. */
export function entryFor(state: TreeState, server: Server, caller: Caller): LinkEntry {
  const key = freeKey(server, caller);
  const entry = server.links.get(key) ?? open(state, server, caller, key);
  entry.usedAt = state.clock.monotonic();
  return entry;
}

/** For what stays: a caller that has a conversation of its own beside the shared one watches in that. */
export async function linkFor(state: TreeState, server: Server, caller: Caller): Promise<UsableLink> {
  const entry = openBeside(server, caller) ?? entryFor(state, server, caller);
  return { link: await entry.opening, entry };
}

function keyFor(server: Server, caller: Caller): string {
  if (server.era === "modern" || server.isShared === true) return sharedKey;
  return canBeAsked(caller.capabilities) ? ownKey(caller) : `for ${shapeOf(caller.capabilities)}`;
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

function open(state: TreeState, server: Server, caller: Caller, key: string): LinkEntry {
  const now = state.clock.monotonic();
  const { fault } = server;
  if (fault !== undefined && now < fault.retryAt) {
    const retryAfterMs = Math.ceil(fault.retryAt - now);
    throw new McpxError("server_unreachable", `${server.name}: ${fault.detail}`, { retryAfterMs });
  }
  const owner = canBeAsked(caller.capabilities) && server.isShared !== true ? caller : undefined;
  if (owner !== undefined) checkSetback(server, owner, now);
  makeRoom(server);
  const said = new Remarks();
  const opening = start(state, server, caller, { owner, said }, () => entry);
  const entry: LinkEntry = {
    key,
    opening,
    link: undefined,
    owner,
    inFlight: 0,
    usedAt: now,
    openedAt: now,
    said,
  };
  server.links.set(key, entry);
  opening.catch(() => {
    // Another may have its place by now.
    if (server.links.get(key) === entry) server.links.delete(key);
  });
  return entry;
}

async function start(
  state: TreeState,
  server: Server,
  caller: Caller,
  { owner, said }: Pick<LinkEntry, "owner" | "said">,
  own: () => LinkEntry,
): Promise<Link> {
  if (server.awaited !== undefined) server.awaited.over = (isGranted) => authorised(state, server, isGranted);
  let link: Link;
  try {
    link = await server.open(
      {
        clientInfo: { name: state.name, version: state.version },
        capabilities: server.isShared === true ? {} : capabilitiesOf(shapeOf(caller.capabilities)),
        era: server.eraWanted ?? server.era,
        isEraFixed: server.eraWanted !== undefined,
        signal: state.closing.signal,
        turns: state.turns,
        rooms: state.rooms,
      },
      hear(state, server, own, said),
    );
  } catch (error) {
    if (state.isClosed) throw new McpxError("draining");
    throw failed(state, server, isAwaiting(server) ? awaitingFault(server) : error, { owner, said });
  }
  const entry = own();
  if (state.isClosed) {
    await link.close();
    throw new McpxError("draining");
  }
  // Kept as long as the conversation, and shown to everybody.
  if (heapBytesOf(link.facts) > state.listRoom.factsMax) {
    await link.close();
    const fault = `what it says of itself takes more than ${state.listRoom.factsMax} bytes of memory`;
    const error = new McpxError("bad_server_answer", `${server.name}: ${fault}`);
    throw failed(state, server, error, { owner, said });
  }
  settle(state, server, link, entry);
  void link.ended.then((why) => lost(state, server, entry, why));
  return link;
}

/** A modern conversation is for everybody, whoever began it. */
function settle(state: TreeState, server: Server, link: Link, entry: LinkEntry): void {
  entry.link = link;
  entry.openedAt = state.clock.monotonic();
  entry.usedAt = entry.openedAt;
  server.era = link.facts.era;
  server.facts = link.facts;
  server.fault = undefined;
  if (link.facts.era === "modern") {
    entry.owner = undefined;
    if (!server.links.has(sharedKey)) server.links.set(sharedKey, entry);
  }
  hasOpened(server);
  stopWhenIdle(state, server, entry);
  tuneLogs(state, server, entry);
  restore(state, server);
  listAgain(state, server);
}

/** Somebody has been shown a list without it. */
function listAgain(state: TreeState, server: Server): void {
  const kinds = [...server.listFaults.keys()];
  server.listFaults.clear();
  renewLists(server, kinds);
  for (const kind of kinds) announceChange(state, kind, server.person);
}

/** Or nobody was there to: then it asks anew when somebody wants something of it. */
function authorised(state: TreeState, server: Server, isGranted: boolean): void {
  server.fault = undefined;
  if (isGranted) listAgain(state, server);
}

function failed(
  state: TreeState,
  server: Server,
  error: unknown,
  { owner, said }: Pick<LinkEntry, "owner" | "said">,
): unknown {
  const now = state.clock.monotonic();
  if (owner !== undefined && isMcpxError(error) && error.cause instanceof RpcError) {
    // It is there and answers: what it refuses is this client, and others may be none the worse.
    noteRefusal(server, owner, error.detail, now);
    return error;
  }
  const failures = (server.fault?.failures ?? 0) + 1;
  const waitMs = Math.min(retryMsMax, retryMsMin * 2 ** (failures - 1));
  const shown = isMcpxError(error) ? error.detail : "it could not be opened";
  const bare = shown.startsWith(`${server.name}: `) ? shown.slice(server.name.length + 2) : shown;
  const detail = withLastWords(bare, said);
  server.fault = { detail, since: server.fault?.since ?? state.clock.now(), retryAt: now + waitMs, failures };
  state.log.warn({ server: server.name, detail, retryInMs: waitMs }, "a server cannot be reached");
  if (!isMcpxError(error) || detail === bare) return error;
  const { code, suggestion, cause } = error;
  return new McpxError(code, `${server.name}: ${detail}`, { suggestion, cause });
}

function lost(state: TreeState, server: Server, entry: LinkEntry, why: string): void {
  if (!forgetEntry(server, entry) || state.isClosed) return;
  const told = withLastWords(why, entry.said);
  server.lastLoss = { why: told, at: state.clock.now() };
  state.log.info({ server: server.name, why: told }, "a conversation with a server is over");
  if (entry.link?.pid !== undefined) breakLoop(state, server, entry, told);
  if (entry.owner === undefined) degrade(state, server, told);
  else tellLostTo(state, server, entry.owner);
  void watchAgain(state, entry);
}

/** Under whatever keys it is kept; `false` where it is not. */
export function forgetEntry({ links }: Server, entry: LinkEntry): boolean {
  const keys = [...links].filter(([, kept]) => kept === entry).map(([key]) => key);
  for (const key of keys) links.delete(key);
  return keys.length > 0;
}

/** A child that ends again and again is not started for a while: for nobody, or for the one whose own it was. */
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
  state.log.warn({ server: server.name, detail, retryInMs: waitMs }, "a server is left alone for a while");
}

function withLastWords(detail: string, said: Remarks): string {
  const words = lastWords(said);
  return words === "" ? detail : `${detail}: ${words}`;
}

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
