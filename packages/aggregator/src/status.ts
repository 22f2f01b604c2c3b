// How a server is doing, in words and numbers for people and for `mcpax.status`.
import type { JsonObject } from "@mcpx/protocol";
import type { Server } from "./server.ts";
import type { TreeState } from "./tree-state.ts";

export function serverStatus(state: TreeState, server: Server): JsonObject {
  const { name, segment, fault, era, facts, links, lists, listFaults } = server;
  const conversations = new Set(links.values());
  const isOpen = [...conversations].some(({ link }) => link !== undefined);
  const counts = [...lists.values()].map(({ tools }) => tools.listed?.entries.length ?? 0);
  return {
    name,
    segment: segment ?? null,
    state: fault !== undefined ? "down" : listFaults.size > 0 ? "ailing" : isOpen ? "up" : "idle",
    era: era ?? null,
    server: facts?.info ?? null,
    conversations: conversations.size,
    tools: Math.max(0, ...counts),
    left_out: [...lists.values()].flatMap(({ tools }) => tools.listed?.leftOut ?? []).slice(0, 20),
    ...(listFaults.size > 0 && { list_faults: Object.fromEntries(listFaults) }),
    ...(fault !== undefined && {
      fault: fault.detail,
      since: new Date(fault.since).toISOString(),
      retry_after_ms: Math.max(0, Math.ceil(fault.retryAt - state.clock.monotonic())),
    }),
  };
}
