// Other servers and profiles while the tree runs. What stays the same notices nothing; what goes ends when its calls
// have ended.
import { setTimeout as wait } from "node:timers/promises";
import { McpxError } from "@mcpx/protocol";
import { announceChange } from "./announce.ts";
import { forgetListed } from "./directory.ts";
import { listKinds } from "./fetch-list.ts";
import { forgetLists } from "./list-slots.ts";
import { serverFor } from "./people/server-for.ts";
import { type Profile, replaceProfiles } from "./profile.ts";
import { createServer, type Server, type ServerOptions } from "./server.ts";
import { watchAgain } from "./subscriptions.ts";
import type { TreeState } from "./tree-state.ts";

export interface TreeChange {
  /** All that shall be there. One with the very same options (`open` included) stays as it is. */
  servers: readonly ServerOptions[];
  /** All of them; as they are unless given. */
  profiles?: readonly Profile[] | undefined;
}

/** Names of servers. */
export interface TreeChanges {
  added: string[];
  removed: string[];
  changed: string[];
}

/** A server of the configuration, with what it was made from. */
export interface Configured {
  readonly options: ServerOptions;
  readonly server: Server;
  /** It is not in the tree any more, and begins no more conversations. */
  isGone: boolean;
}

/** Calls under way may take this long to end. */
const graceMs = 5_000;
const lookMs = 20;

/** Throws before anything has changed where two would stand in one place. */
export function changeServers(state: TreeState, { servers, profiles }: TreeChange): TreeChanges {
  if (state.isClosed) throw new McpxError("draining");
  const { configured } = state;
  checkPlaces(state, servers);
  const wanted = new Map(servers.map((options) => [options.name, options]));
  const gone = [...configured.values()].filter(({ options }) => !isSame(options, wanted.get(options.name)));
  const fresh = servers.filter((options) => !isSame(options, configured.get(options.name)?.options));
  for (const one of gone) takeOut(state, one);
  state.isPersonal = servers.some(({ personal }) => personal !== undefined);
  const made = new Map(fresh.map((options) => [options.name, putIn(state, options)]));
  for (const { server, options } of gone) retire(state, server, made.get(options.name));
  const areOthers = profiles !== undefined && replaceProfiles(state.profiles, profiles);
  // Whoever comes later lists what is there then.
  if ((gone.length + fresh.length > 0 || areOthers) && state.subscribers.size > 0)
    for (const kind of listKinds) announceChange(state, kind);
  const before = new Set(gone.map(({ options }) => options.name));
  return {
    added: [...made.keys()].filter((name) => !before.has(name)),
    removed: [...before].filter((name) => !made.has(name)),
    changed: [...before].filter((name) => made.has(name)),
  };
}

function isSame(one: ServerOptions, other: ServerOptions | undefined): boolean {
  if (one === other) return true;
  if (other === undefined) return false;
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]) as Set<keyof ServerOptions>;
  return [...keys].every((key) => Object.is(one[key], other[key]));
}

function checkPlaces({ bySegment, configured }: TreeState, servers: readonly ServerOptions[]): void {
  const taken = new Map<string | undefined, string>();
  const own = new Set([...configured.values()].map(({ server }) => server));
  for (const server of bySegment.values()) if (!own.has(server)) taken.set(server.segment, server.name);
  for (const { name, segment } of servers) {
    const holder = taken.get(segment);
    if (holder !== undefined && segment === undefined)
      throw new Error(`${name} and ${holder} are both at the root`);
    if (holder !== undefined) throw new Error(`${name}: another server has the segment ${segment}`);
    taken.set(segment, name);
  }
}

function putIn(state: TreeState, options: ServerOptions): Server {
  const { open, name } = options;
  const server = createServer({
    ...options,
    async open(opening, taker) {
      // A call that found its tool just before it went.
      if (one.isGone) throw new McpxError("server_unreachable", `${name}: it has been changed or removed`);
      return await open(opening, taker);
    },
  });
  const one: Configured = { options, server, isGone: false };
  state.configured.set(name, one);
  if (server.segment === undefined) state.root = server;
  else state.bySegment.set(server.segment, server);
  return server;
}

function takeOut(state: TreeState, one: Configured): void {
  const { server, options } = one;
  one.isGone = true;
  state.configured.delete(options.name);
  if (server.segment === undefined) state.root = undefined;
  else state.bySegment.delete(server.segment);
}

/** It is out of the tree: what was watched of it is watched at its heir, and its conversations end when they may. */
export function retire(state: TreeState, server: Server, successor: Server | undefined): void {
  for (const { server: own } of server.own.values()) retire(state, own, successor);
  const entries = [...new Set(server.links.values())];
  const heir = successor?.segment === server.segment ? successor : undefined;
  for (const { watches, caller } of state.subscribers) {
    for (const watch of watches.filter((one) => one.server === server)) {
      if (heir === undefined) watches.splice(watches.indexOf(watch), 1);
      else watch.server = serverFor(state, heir, caller);
    }
  }
  for (const entry of entries) void watchAgain(state, entry);
  server.isRetired = true;
  forgetLists(server);
  forgetListed(state, server);
  state.listRoom.counted = undefined;
  state.leaving.add(server);
  void endWhenIdle(state, server);
}

async function endWhenIdle(state: TreeState, server: Server): Promise<void> {
  const until = performance.now() + graceMs;
  const isBusy = () => [...server.links.values()].some(({ inFlight }) => inFlight > 0);
  while (isBusy() && performance.now() < until && !state.isClosed)
    await wait(lookMs, undefined, { ref: false });
  const entries = [...new Set(server.links.values())];
  // First: an end that was wanted is no loss.
  server.links.clear();
  await Promise.allSettled(entries.map(async ({ opening }) => (await opening).close()));
  state.leaving.delete(server);
}
