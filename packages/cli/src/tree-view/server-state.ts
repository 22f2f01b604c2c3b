// How the servers in a report of `mcpax.status` are doing. Pure.
import { isObject, type JsonObject } from "@mcpx/protocol";

const others = [
  "starting",
  "idle",
  "ailing",
  "degraded",
  "needs sign-in",
  "needs authorisation",
  "down",
] as const;

export type ServerState = "up" | (typeof others)[number];

export function serversIn({ servers }: JsonObject): JsonObject[] {
  return Array.isArray(servers) ? servers.filter(isObject) : [];
}

/** A server that was asked and has not answered yet is starting. */
export function stateOf({ state, conversations }: JsonObject): ServerState {
  return state === "idle" && Number(conversations) > 0 ? "starting" : (String(state) as ServerState);
}

/** `3 of 50 servers are up, 45 starting, 2 down`; the tree's own server does not count. Empty where there is none. */
export function countsText(servers: readonly JsonObject[]): string {
  const states = servers.filter(({ name }) => name !== "mcpax").map(stateOf);
  if (states.length === 0) return "";
  const count = (state: ServerState) => states.filter((one) => one === state).length;
  const rest = others.filter((state) => count(state) > 0).map((state) => `, ${count(state)} ${state}`);
  const what = states.length === 1 ? "1 server is" : `${states.length} servers are`;
  return `${count("up")} of ${what} up${rest.join("")}`;
}
