// Servers of both eras. Their lists, and the requests of most callers, go over the modern conversation, which is one for
// all. A legacy caller that can be asked gets a legacy conversation of its own beside it, since such servers often ask in
// the middle of a call only there: with the official SDK, `elicitInput` fails in a modern one. Over stdio that is a
// second child: the SDK's `serveStdio` keeps to one era for as long as its process lives. A server that has no legacy
// conversation to offer is used over the modern one, as if nobody had asked.
import { isMcpxError, McpxError } from "@mcpx/protocol";
import type { Caller, Exchange } from "./exchange.ts";
import { readList } from "./fetch-list.ts";
import { hear } from "./hear.ts";
import { stopWhenIdle } from "./idle-stop.ts";
import { entryFor, forgetEntry, makeRoom } from "./link-for.ts";
import { besideKey, sharedKey } from "./link-keys.ts";
import { HttpRefusal } from "./links/http-refusal.ts";
import type { Link } from "./links/link.ts";
import { roomUpTo } from "./list-room.ts";
import { tuneLogs } from "./log-levels.ts";
import { Remarks } from "./remarks.ts";
import { RpcError, rpcCodes } from "./rpc-error.ts";
import { isTree, type LinkEntry, type Server } from "./server.ts";
import { checkSetback, noteOwnDeath, setbackOf } from "./setbacks.ts";
import { canBeAsked, capabilitiesOf, shapeOf } from "./shape.ts";
import { moveWatches, watchAgain } from "./subscriptions.ts";
import { tellLostTo } from "./tell.ts";
import type { TreeState } from "./tree-state.ts";

/** The server has answered a modern client already: a legacy one need not wait for its start as long. */
const openMs = 10_000;
const retryMsMin = 30_000;
const retryMsMax = 600_000;
/** A server that refuses the era may be another version of itself by then. */
const refusedMs = 3_600_000;
/** What servers without the era say to `initialize`. */
const refusals: readonly number[] = [
  rpcCodes.unsupportedVersion,
  rpcCodes.methodNotFound,
  rpcCodes.invalidRequest,
  rpcCodes.invalidParams,
  rpcCodes.headerMismatch,
];

type Asked = Pick<Exchange, "caller" | "method" | "params">;

/** Whether a request may want a legacy conversation; most do not, and are not to wait for the answer. */
export function mayGoBeside(server: Server, { caller, method }: Asked): boolean {
  return (
    caller.era === "legacy" &&
    server.era !== "legacy" &&
    server.eraWanted === undefined &&
    server.isShared !== true &&
    server.isSignIn !== true &&
    // No server asks anything then.
    method !== "completion/complete" &&
    canBeAsked(caller.capabilities)
  );
}

/** The caller's own legacy conversation; `undefined` where the request goes the usual way. */
export async function entryBeside(
  state: TreeState,
  server: Server,
  asked: Asked,
): Promise<LinkEntry | undefined> {
  const { caller, method, params } = asked;
  if (server.era === undefined) await entryFor(state, server, caller).opening;
  if (server.era !== "modern" || isChildTree(server)) return undefined;
  checkSetback(server, caller, state.clock.monotonic());
  const key = besideKey(caller);
  try {
    const entry = server.links.get(key) ?? open(state, server, asked, key);
    entry.usedAt = state.clock.monotonic();
    await entry.opening;
    // What only the modern era lists is called in it.
    const isThere = method !== "tools/call" || entry.tools?.has(String(params.name)) !== false;
    return isThere ? entry : undefined;
  } catch (error) {
    if (state.isClosed) throw error;
    return undefined;
  }
}

/** A whole tree is not started a second time: it would start all its servers again, over the same data. */
function isChildTree(server: Server): boolean {
  const shared = server.links.get(sharedKey)?.link;
  return isTree(server) && (shared === undefined || shared.pid !== undefined);
}

function open(state: TreeState, server: Server, { caller }: Asked, key: string): LinkEntry {
  const now = state.clock.monotonic();
  if (now < setbackOf(server, caller).notBefore) throw new McpxError("server_unreachable", server.name);
  makeRoom(server);
  const said = new Remarks();
  const entry: LinkEntry = {
    key,
    opening: Promise.resolve().then(() => start(state, server, entry)),
    link: undefined,
    owner: caller,
    isBeside: true,
    inFlight: 0,
    usedAt: now,
    openedAt: now,
    said,
  };
  server.links.set(key, entry);
  entry.opening.catch((error: unknown) => {
    forgetEntry(server, entry);
    if (!state.isClosed) noteFailure(state, server, caller, error);
  });
  return entry;
}

async function start(state: TreeState, server: Server, entry: LinkEntry): Promise<Link> {
  const { owner, said } = entry;
  const capabilities = capabilitiesOf(shapeOf(owner?.capabilities ?? {}));
  const opening = {
    clientInfo: { name: state.name, version: state.version },
    capabilities,
    era: "legacy" as const,
    isEraFixed: true,
    timeoutMs: openMs,
    signal: state.closing.signal,
    turns: state.turns,
    rooms: state.rooms,
  };
  const link = await server.open(
    opening,
    hear(state, server, () => entry, said),
  );
  try {
    if (state.isClosed) throw new McpxError("draining");
    const client = { capabilities, info: owner?.info };
    // Without a session no answer finds the instance that has asked.
    if (link.facts.era !== "legacy" || link.hasSession === false) throw new NoLegacyEra();
    const room = roomUpTo(state.listRoom.perServerMax);
    const { items } = await readList(link, server, "tools", client, AbortSignal.timeout(openMs), room);
    entry.tools = new Set(items.map(({ name }) => String(name)));
  } catch (error) {
    await link.close();
    throw error;
  }
  entry.link = link;
  entry.openedAt = state.clock.monotonic();
  entry.usedAt = entry.openedAt;
  server.speaksBoth = true;
  if (owner !== undefined) setbackOf(server, owner).failures = 0;
  stopWhenIdle(state, server, entry);
  tuneLogs(state, server, entry);
  void link.ended.then((why) => lost(state, server, entry, why));
  const shared = server.links.get(sharedKey);
  if (shared !== undefined && owner !== undefined) void moveWatches(state, shared, owner.key);
  return link;
}

class NoLegacyEra extends Error {}

/** For this caller: it may be refused because of what it says of itself, and others would not be. */
function noteFailure({ clock, log }: TreeState, server: Server, caller: Caller, error: unknown): void {
  const setback = setbackOf(server, caller);
  const isRefused = error instanceof NoLegacyEra || isRefusal(error);
  if (!isRefused) setback.failures += 1;
  const waitMs = isRefused ? refusedMs : Math.min(retryMsMax, retryMsMin * 2 ** (setback.failures - 1));
  setback.notBefore = clock.monotonic() + waitMs;
  const about = { server: server.name, retryInMs: waitMs };
  if (isRefused) log.debug(about, "a server speaks the modern era only");
  else log.warn({ ...about, err: error }, "a server's legacy conversation cannot be opened");
}

function isRefusal(error: unknown): boolean {
  const cause = isMcpxError(error) ? error.cause : undefined;
  if (cause instanceof RpcError) return refusals.includes(cause.fault.code);
  if (!(cause instanceof HttpRefusal) || cause.isForbidden) return false;
  return [400, 404, 405, 406, 415].includes(cause.status);
}

function lost(state: TreeState, server: Server, entry: LinkEntry, why: string): void {
  if (!forgetEntry(server, entry) || state.isClosed) return;
  server.lastLoss = { why, at: state.clock.now() };
  state.log.info({ server: server.name, why }, "a legacy conversation with a server is over");
  const { owner } = entry;
  if (entry.link?.pid !== undefined && owner !== undefined) {
    const now = state.clock.monotonic();
    noteOwnDeath(server, owner, { now, livedMs: now - entry.openedAt, why });
  }
  if (owner !== undefined) tellLostTo(state, server, owner);
  void watchAgain(state, entry);
}
