// Who wants to be told of what, and the conversations that are kept open for it.
import { setTimeout as wait } from "node:timers/promises";
import { isObject } from "@mcpx/protocol";
import { resolveUri } from "../catalogue/resolve.ts";
import type { Caller } from "../mcp/exchange.ts";
import type { Deliver, Subscription, Wishes } from "../mcp/tree.ts";
import { type LinkEntry, sharedKey } from "../servers/link-entry.ts";
import { linkFor } from "../servers/link-for.ts";
import type { Server } from "../servers/server.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { ensureServerFor } from "../servers/users/server-for.ts";

interface Watch {
  /** As the client wrote it. */
  written: string;
  server: Server;
  /** As the server knows it. */
  uri: string;
  entry: LinkEntry;
}

export interface Subscriber {
  readonly caller: Caller;
  granted: Wishes;
  readonly watches: Watch[];
  deliver: Deliver;
}

const watchesMax = 1_000;

export async function subscribe(
  state: TreeState,
  caller: Caller,
  wishes: Wishes,
  deliver: Subscriber["deliver"],
): Promise<Subscription> {
  const { resourceSubscriptions = [], ...changes } = wishes;
  const subscriber: Subscriber = { caller, granted: onlyTrue(changes), watches: [], deliver };
  // Before anything is awaited, so that no change slips through between.
  state.subscribers.add(subscriber);
  const granted: string[] = [];
  try {
    for (const written of resourceSubscriptions.slice(0, watchesMax)) {
      if (await watch(state, subscriber, written)) granted.push(written);
    }
  } catch (error) {
    close(state, subscriber);
    throw error;
  }
  if (granted.length > 0) subscriber.granted = { ...subscriber.granted, resourceSubscriptions: granted };
  return { granted: subscriber.granted, close: () => close(state, subscriber) };
}

function close(state: TreeState, subscriber: Subscriber): void {
  state.subscribers.delete(subscriber);
  for (const { entry } of subscriber.watches) rewatch(state, entry);
}

/** By which of its watches this subscriber is to be told of a resource: that one, or one it is part of. */
export function watchOf(
  { watches }: Subscriber,
  server: Server,
  entry: LinkEntry,
  uri: string,
): Readonly<Watch> | undefined {
  const isUnder = (watched: string) => uri === watched || uri.startsWith(`${watched}/`);
  return watches.find((one) => one.server === server && one.entry === entry && isUnder(one.uri));
}

/** False where it cannot be had. A legacy client asks for one resource at a time, and is told why. */
async function watch(state: TreeState, subscriber: Subscriber, written: string): Promise<boolean> {
  try {
    return await open(state, subscriber, written);
  } catch (error) {
    if (subscriber.caller.era === "legacy") throw error;
    state.log.debug({ err: error }, "could not subscribe to a resource");
    return false;
  }
}

async function open(state: TreeState, subscriber: Subscriber, written: string): Promise<boolean> {
  const { server, uri } = await resolveUri(state, written, subscriber.caller);
  const { link, entry } = await linkFor(state, server, subscriber.caller);
  const { resources } = link.facts.capabilities;
  if (!isObject(resources) || resources.subscribe !== true) return false;
  // Closed while the conversation was opening.
  if (!state.subscribers.has(subscriber)) return false;
  subscriber.watches.push({ written, server, uri, entry });
  rewatch(state, entry);
  return true;
}

function rewatch(state: TreeState, entry: LinkEntry): void {
  const uris = new Set<string>();
  for (const { watches } of state.subscribers) {
    for (const one of watches) if (one.entry === entry) uris.add(one.uri);
  }
  entry.link?.watch(uris);
}

const watchAgainMs = 1_000;

/** A conversation is over: what was watched over it is watched over a new one, once that can be had. */
export async function watchAgain(state: TreeState, lost: LinkEntry): Promise<void> {
  const isLeft = ({ watches }: Subscriber) => watches.some(({ entry }) => entry === lost);
  for (let left = [...state.subscribers].filter(isLeft); left.length > 0; ) {
    for (const subscriber of left) await moveOf(state, subscriber, lost);
    left = state.isClosed ? [] : [...state.subscribers].filter(isLeft);
    if (left.length > 0) await wait(watchAgainMs, undefined, { ref: false });
  }
}

/** A caller has got a conversation of its own beside the shared one: what it watches is watched there. */
export function takeWatches(state: TreeState, { links }: Server, { isBeside, owner }: LinkEntry): void {
  const shared = links.get(sharedKey);
  if (isBeside && owner !== undefined && shared !== undefined) void moveWatches(state, shared, owner.key);
}

async function moveWatches(state: TreeState, from: LinkEntry, callerKey: string): Promise<void> {
  const subscribers = [...state.subscribers].filter(({ caller }) => caller.key === callerKey);
  for (const subscriber of subscribers) await moveOf(state, subscriber, from);
  rewatch(state, from);
}

/** A server is out of the tree: what was watched of it is watched at its heir, or not any more. */
export function inheritWatches(state: TreeState, server: Server, heir: Server | undefined): void {
  const conversations = new Set(server.links.values());
  for (const { watches, caller } of state.subscribers) {
    for (const watch of watches.filter((one) => one.server === server)) {
      if (heir === undefined) watches.splice(watches.indexOf(watch), 1);
      else watch.server = ensureServerFor(state, heir, caller);
    }
  }
  for (const one of conversations) void watchAgain(state, one);
}

async function moveOf(state: TreeState, subscriber: Subscriber, from: LinkEntry): Promise<void> {
  for (const one of subscriber.watches.filter(({ entry }) => entry === from)) {
    try {
      const { entry } = await linkFor(state, one.server, subscriber.caller);
      one.entry = entry;
      rewatch(state, entry);
    } catch (error) {
      // The server's fault is known and shown; it will be asked again.
      state.log.debug(
        { err: error, server: one.server.name },
        "could not subscribe to a resource; trying again",
      );
    }
  }
}

function onlyTrue({ toolsListChanged, promptsListChanged, resourcesListChanged, unasked }: Wishes): Wishes {
  return {
    ...(toolsListChanged === true && { toolsListChanged }),
    ...(promptsListChanged === true && { promptsListChanged }),
    ...(resourcesListChanged === true && { resourcesListChanged }),
    ...(unasked === true && { unasked }),
  };
}
