// Places of one principal: how many connections it has, and how many topics it has made. The last of everything are for
// admins: somebody must be able to come in and end what takes the rest.
import { openTo, type Principal, principalKey } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import type { Gateway } from "./gateway-state.ts";

/** By principal. */
export interface Places {
  readonly connections: Map<string, number>;
  readonly topics: Map<string, number>;
}

/** `topics`: those that were made before this process began. */
export function createPlaces(topics: Map<string, number> = new Map()): Places {
  return { connections: new Map(), topics };
}

/** One more connection; the answer gives it back. What this process makes itself has no token, and is not counted. */
export function takePlace({ places, connections, limits }: Gateway, principal: Principal): () => void {
  if (principal.issuedAt === undefined) return () => {};
  const key = principalKey(principal);
  const own = places.connections.get(key) ?? 0;
  if (own >= limits.connectionsPerPrincipalMax) {
    const detail = `you have ${own}, the limit for one principal is ${limits.connectionsPerPrincipalMax}`;
    throw new McpxError("too_many_connections", detail, { retryAfterMs: 5_000 });
  }
  const max = openTo(limits.connectionsMax, principal.admin);
  if (connections > max) {
    throw new McpxError(
      "too_many_connections",
      `the limit is ${max} connections; further ones are reserved for admins`,
      {
        retryAfterMs: 5_000,
      },
    );
  }
  add(places.connections, key, 1);
  let isOver = false;
  return () => {
    if (!isOver) add(places.connections, key, -1);
    isOver = true;
  };
}

/** One more topic; throws `too_many_topics`. */
export function takeTopic({ places, topics, limits }: Gateway, principal: Principal): void {
  const max = openTo(limits.topicsMax, principal.admin);
  if (topics.size >= max) throw new McpxError("too_many_topics", `the limit is ${max}`);
  if (principal.issuedAt === undefined) return;
  const key = principalKey(principal);
  const own = places.topics.get(key) ?? 0;
  if (own >= limits.topicsPerPrincipalMax) {
    const detail = `you have made ${own}, the limit for one principal is ${limits.topicsPerPrincipalMax}`;
    throw new McpxError("too_many_topics", detail);
  }
  add(places.topics, key, 1);
}

/** Gives the place back when the topic could not be made. */
export function giveTopicBack({ places }: Gateway, principal: Principal): void {
  if (principal.issuedAt !== undefined) add(places.topics, principalKey(principal), -1);
}

function add(counts: Map<string, number>, key: string, change: 1 | -1): void {
  const next = (counts.get(key) ?? 0) + change;
  if (next <= 0) counts.delete(key);
  else counts.set(key, next);
}
