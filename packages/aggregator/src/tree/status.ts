// How a server is doing, in words and numbers for people and for `mcpax.status`.
import { isDefinitionSmuggling, type JsonObject, withRoot } from "@mcpx/protocol";
import type { HeldTool, Listed } from "../catalogue/catalogue.ts";
import { listKinds } from "../mcp/list-kinds.ts";
import { isAwaiting } from "../servers/awaited-authorisation.ts";
import { figuresOf } from "../servers/latency.ts";
import { useOf } from "../servers/process-use.ts";
import { type Degraded, erasOf, type Server } from "../servers/server.ts";
import { registeredOf } from "../servers/server-origin.ts";
import type { TreeState } from "../servers/tree-state.ts";

/** Entries of each list that are shown. */
const shownMax = 20;

export function serverStatus(state: TreeState, server: Server): JsonObject {
  const { name, segment, fault, lastLoss, facts, links, lists, listFaults, degraded } = server;
  const conversations = new Set(links.values());
  const isOpen = [...conversations].some(({ link }) => link !== undefined);
  const pids = [...conversations].flatMap(({ link }) => link?.pid ?? []);
  const listed = [...lists.values()].flatMap(({ tools }) => tools.listed ?? []);
  const most = (count: (list: Listed) => number) => Math.max(0, ...listed.map(count));
  const quarantined = [...new Set(listed.flatMap((list) => namesOf(list, "quarantined")))];
  const latency = figuresOf(server.latencies.values());
  const budget = server.budget?.usage();
  const faults = [...new Set(listed.flatMap(({ overrideFaults }) => overrideFaults))];
  return {
    name,
    segment: segment ?? null,
    state: stateOf(server, isOpen),
    era: erasOf(server) ?? null,
    ...(server.eraWanted !== undefined && { era_set: server.eraWanted }),
    server: facts?.info ?? null,
    conversations: conversations.size,
    ...registeredOf(server)?.describe(),
    ...(server.origin.kind === "room" && { room: server.origin.room }),
    ...(pids.length > 0 && { processes: pids.map(processStatus) }),
    ...(latency !== undefined && { latency }),
    ...(budget !== undefined && { budget }),
    tools: most(({ entries }) => entries.length),
    disabled: most((list) => namesOf(list, "disabled").length),
    quarantined: quarantined.slice(0, shownMax).map((canonical) => withRoot(state.rootSegment, canonical)),
    left_out: leftOutOf(server),
    ...(faults.length > 0 && { override_faults: faults.slice(0, shownMax) }),
    ...(listFaults.size > 0 && { list_faults: Object.fromEntries(listFaults) }),
    ...(degraded !== undefined && { degraded: degradedStatus(state, degraded) }),
    ...(lastLoss !== undefined && {
      last_loss: lastLoss.why,
      last_loss_at: new Date(lastLoss.at).toISOString(),
    }),
    ...(fault !== undefined && {
      fault: fault.detail,
      since: new Date(fault.since).toISOString(),
      retry_after_ms: Math.max(0, Math.ceil(fault.retryAt - state.clock.monotonic())),
    }),
  };
}

/** Of all its lists, and of what it says of itself. */
function leftOutOf({ lists, facts }: Server): string[] {
  const all = [...lists.values()].flatMap((slots) => listKinds.flatMap((kind) => slots[kind].listed ?? []));
  const leftOut = new Set(all.flatMap(({ leftOut }) => leftOut));
  if (isDefinitionSmuggling({ instructions: facts?.instructions }))
    leftOut.add("its instructions: they hide text");
  return [...leftOut].slice(0, shownMax);
}

/** A registered server is up until it is lost; others are opened when a caller needs them. */
function stateOf(server: Server, isOpen: boolean): string {
  const { fault, listFaults, degraded } = server;
  const hasRegistered = registeredOf(server) !== undefined;
  if (hasRegistered && degraded !== undefined) return "degraded";
  if (isAwaiting(server)) return "needs authorisation";
  if (fault !== undefined) return "down";
  if (listFaults.size > 0) return "ailing";
  return isOpen || hasRegistered ? "up" : "idle";
}

/** Lost, and listed until then. [AX-13.2-2] */
function degradedStatus({ clock }: TreeState, { since, until, why }: Degraded): JsonObject {
  const leftMs = Math.max(0, until - clock.monotonic());
  return {
    since: new Date(since).toISOString(),
    reason: why,
    until: new Date(clock.now() + leftMs).toISOString(),
  };
}

/** A child, with all that it has started. */
function processStatus(pid: number): JsonObject {
  const use = useOf(pid);
  if (use === undefined) return { pid };
  return { pid, processes: use.processes, memory_bytes: use.memoryBytes, cpu_ms: use.cpuMs };
}

/** Canonical ones. */
function namesOf({ held }: Listed, why: HeldTool["why"]): string[] {
  return [...held].filter(([, tool]) => tool.why === why).map(([canonical]) => canonical);
}
