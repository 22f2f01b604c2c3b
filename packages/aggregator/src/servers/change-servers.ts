// Other servers and profiles while the tree runs. What stays the same notices nothing; what goes is retired.
import { McpxError } from "@mcpx/protocol";
import { listKinds } from "../mcp/list-kinds.ts";
import { type Profile, replaceProfiles } from "../mcp/profile.ts";
import { retire } from "./retire.ts";
import { createServer, type Server, type ServerOptions } from "./server.ts";
import { personalOf } from "./server-origin.ts";
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

/** Throws before anything has changed where two would stand in one place. */
export function changeServers(state: TreeState, { servers, profiles }: TreeChange): TreeChanges {
  if (state.isClosed) throw new McpxError("draining");
  const { configured } = state;
  checkPlaces(state, servers);
  const wanted = new Map(servers.map((options) => [options.name, options]));
  const gone = [...configured.values()].filter(({ options }) => !isSame(options, wanted.get(options.name)));
  const fresh = servers.filter((options) => !isSame(options, configured.get(options.name)?.options));
  for (const one of gone) takeOut(state, one);
  state.isPersonal = servers.some((options) => personalOf(options) !== undefined);
  const made = new Map(fresh.map((options) => [options.name, putIn(state, options)]));
  for (const { server, options } of gone) retire(state, server, made.get(options.name));
  const areOthers = profiles !== undefined && replaceProfiles(state.profiles, profiles);
  // Callers that come later list the servers of that moment.
  if ((gone.length + fresh.length > 0 || areOthers) && state.subscribers.size > 0)
    state.events.listsChanged(listKinds);
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
