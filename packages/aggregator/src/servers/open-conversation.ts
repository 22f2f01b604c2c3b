// Opens a conversation with a server, and what follows once it is open.
import { heapBytesOf, type JsonObject, McpxError } from "@mcpx/protocol";
import type { Link } from "../links/link.ts";
import { canBeAsked, capabilitiesOf, capabilityKeyOf } from "../mcp/capability-key.ts";
import type { Caller } from "../mcp/exchange.ts";
import { awaitedOf, awaitingFault, isAwaiting } from "./awaited-authorisation.ts";
import { restore } from "./degrade.ts";
import { stopWhenIdle } from "./idle-stop.ts";
import { createLinkEntry, hasBegun, type LinkEntry, sharedKey } from "./link-entry.ts";
import { forgetEntry, makeSpace } from "./link-pool.ts";
import { renewLists } from "./list-slots.ts";
import { loseConversation } from "./lose-conversation.ts";
import { hasOpened } from "./mute.ts";
import type { Opening, Server } from "./server.ts";
import { isShared, userOf } from "./server-origin.ts";
import { checkSetback } from "./setbacks.ts";
import type { TreeState } from "./tree-state.ts";
import { checkFault, noteFault } from "./unreachable.ts";

/** Throws, or its opening rejects; the server's `fault` is kept. */
export function openConversation(state: TreeState, server: Server, caller: Caller, key: string): LinkEntry {
  const now = state.clock.monotonic();
  checkFault(server, now);
  const owner = canBeAsked(caller.capabilities) && !isShared(server) ? caller : undefined;
  if (owner !== undefined) checkSetback(server, owner, now);
  makeSpace(server, caller);
  const entry = createLinkEntry({ key, owner, isBeside: false, now }, (own) =>
    start(state, server, caller, own),
  );
  server.links.set(key, entry);
  entry.opening.catch(() => forgetEntry(server, entry));
  return entry;
}

/** What every conversation of a tree begins with. */
export function openingOf(
  { name, version, closing, turns, rooms }: TreeState,
  capabilities: JsonObject,
): Omit<Opening, "era"> {
  return { clientInfo: { name, version }, capabilities, signal: closing.signal, turns, rooms };
}

async function start(state: TreeState, server: Server, caller: Caller, entry: LinkEntry): Promise<Link> {
  const awaited = awaitedOf(server);
  if (awaited !== undefined) awaited.over = (isGranted) => authorised(state, server, isGranted);
  const capabilities = isShared(server) ? {} : capabilitiesOf(capabilityKeyOf(caller.capabilities));
  const { eraWanted } = server;
  const era = { era: eraWanted ?? server.era, isEraFixed: eraWanted !== undefined };
  let link: Link;
  try {
    const opening = { ...openingOf(state, capabilities), ...era };
    link = await server.open(opening, state.events.begins(server, entry));
  } catch (error) {
    if (state.isClosed) throw new McpxError("draining");
    throw noteFault(state, server, isAwaiting(server) ? awaitingFault(server) : error, entry);
  }
  if (state.isClosed) {
    await link.close();
    throw new McpxError("draining");
  }
  // Kept as long as the conversation, and shown to everybody.
  if (heapBytesOf(link.facts) > state.listCapacity.factsMax) {
    await link.close();
    const fault = `its name, capabilities and instructions take more than ${state.listCapacity.factsMax} bytes of memory`;
    const error = new McpxError("bad_server_answer", `${server.name}: ${fault}`);
    throw noteFault(state, server, error, entry);
  }
  settle(state, server, link, entry);
  void link.ended.then((why) => loseConversation(state, server, entry, why));
  return link;
}

/** A modern session is shared by all callers. */
function settle(state: TreeState, server: Server, link: Link, entry: LinkEntry): void {
  hasBegun(entry, link, state.clock.monotonic());
  server.era = link.facts.era;
  server.facts = link.facts;
  server.fault = undefined;
  if (link.facts.era === "modern") {
    entry.owner = undefined;
    if (!server.links.has(sharedKey)) server.links.set(sharedKey, entry);
  }
  hasOpened(server);
  stopWhenIdle(state, server, entry);
  state.events.opened(server, entry);
  restore(state, server);
  listAgain(state, server);
}

/** Somebody has been shown a list without it. */
function listAgain(state: TreeState, server: Server): void {
  const kinds = [...server.listFaults.keys()];
  server.listFaults.clear();
  renewLists(server, kinds);
  state.events.listsChanged(kinds, userOf(server));
}

/** On denial, or where nobody answered, only the fault is cleared; the next request restarts the authorisation. */
function authorised(state: TreeState, server: Server, isGranted: boolean): void {
  server.fault = undefined;
  if (isGranted) listAgain(state, server);
}
