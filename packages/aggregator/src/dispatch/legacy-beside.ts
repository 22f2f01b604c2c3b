// Servers of both eras. Their lists, and the requests of most callers, go over the modern conversation, which is one for
// all. A legacy caller that can be asked gets a legacy conversation of its own beside it, since such servers often ask in
// the middle of a call only there: with the official SDK, `elicitInput` fails in a modern one. Over stdio that is a
// second child: the SDK's `serveStdio` keeps to one era for as long as its process lives. A server that has no legacy
// conversation to offer is used over the modern one, as if nobody had asked.
import { backoffMs, isMcpxError, McpxError, written } from "@mcpx/protocol";
import { readList } from "../catalogue/fetch-list.ts";
import { HttpRefusal } from "../links/http-refusal.ts";
import type { Link } from "../links/link.ts";
import { canBeAsked, capabilitiesOf, capabilityKeyOf } from "../mcp/capability-key.ts";
import type { Caller, Exchange } from "../mcp/exchange.ts";
import { RpcError, rpcCodes } from "../mcp/rpc-error.ts";
import { stopWhenIdle } from "../servers/idle-stop.ts";
import { besideKey, createLinkEntry, hasBegun, type LinkEntry, sharedKey } from "../servers/link-entry.ts";
import { entryFor } from "../servers/link-for.ts";
import { forgetEntry, makeSpace } from "../servers/link-pool.ts";
import { capacityUpTo } from "../servers/list-capacity.ts";
import { loseConversation } from "../servers/lose-conversation.ts";
import { openingOf } from "../servers/open-conversation.ts";
import { isTree, type Server } from "../servers/server.ts";
import { isShared } from "../servers/server-origin.ts";
import { checkSetback, setbackOf } from "../servers/setbacks.ts";
import type { TreeState } from "../servers/tree-state.ts";

/** The server has answered a modern client already: a legacy one need not wait for its start as long. */
const openMs = 10_000;
const backoff = { minMs: 30_000, maxMs: 600_000 };
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
    !isShared(server) &&
    server.origin.kind !== "sign-in" &&
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
    const isThere = method !== "tools/call" || entry.tools?.has(written(params.name)) !== false;
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
  makeSpace(server, caller);
  const entry = createLinkEntry({ key, owner: caller, isBeside: true, now }, (own) =>
    start(state, server, own),
  );
  server.links.set(key, entry);
  entry.opening.catch((error: unknown) => {
    forgetEntry(server, entry);
    if (!state.isClosed) noteFailure(state, server, caller, error);
  });
  return entry;
}

async function start(state: TreeState, server: Server, entry: LinkEntry): Promise<Link> {
  const { owner } = entry;
  const capabilities = capabilitiesOf(capabilityKeyOf(owner?.capabilities ?? {}));
  const era = { era: "legacy", isEraFixed: true, timeoutMs: openMs } as const;
  const link = await server.open(
    { ...openingOf(state, capabilities), ...era },
    state.events.begins(server, entry),
  );
  try {
    if (state.isClosed) throw new McpxError("draining");
    const client = { capabilities, info: owner?.info };
    // Without a session no answer finds the instance that has asked.
    if (link.facts.era !== "legacy" || link.hasSession === false) throw new NoLegacyEra();
    const capacity = capacityUpTo(state.listCapacity.perServerMax);
    const { items } = await readList(link, server, "tools", client, AbortSignal.timeout(openMs), capacity);
    entry.tools = new Set(items.map(({ name }) => written(name)));
  } catch (error) {
    await link.close();
    throw error;
  }
  hasBegun(entry, link, state.clock.monotonic());
  server.speaksBoth = true;
  if (owner !== undefined) setbackOf(server, owner).failures = 0;
  stopWhenIdle(state, server, entry);
  state.events.opened(server, entry);
  void link.ended.then((why) => loseConversation(state, server, entry, why));
  return link;
}

class NoLegacyEra extends Error {}

/** For this caller: it may be refused because of what it says of itself, and others would not be. */
function noteFailure({ clock, log }: TreeState, server: Server, caller: Caller, error: unknown): void {
  const setback = setbackOf(server, caller);
  const isRefused = error instanceof NoLegacyEra || isRefusal(error);
  if (!isRefused) setback.failures += 1;
  const waitMs = isRefused ? refusedMs : backoffMs(setback.failures - 1, backoff);
  setback.notBefore = clock.monotonic() + waitMs;
  const about = { server: server.name, retryInMs: waitMs };
  if (isRefused) log.debug(about, "server speaks the modern era only");
  else log.warn({ ...about, err: error }, "could not open a legacy session with a server");
}

function isRefusal(error: unknown): boolean {
  const cause = isMcpxError(error) ? error.cause : undefined;
  if (cause instanceof RpcError) return refusals.includes(cause.fault.code);
  if (!(cause instanceof HttpRefusal) || cause.isForbidden) return false;
  return [400, 404, 405, 406, 415].includes(cause.status);
}
