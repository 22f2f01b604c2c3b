// The servers of the tree for `/metrics`, looked at when somebody asks: how they are, what their processes use, and how
// much of their budgets is used.
import { ownSegment, type RunningTree, serverStatus, serversOf } from "@mcpx/aggregator";
import { boundedLabel, type Gauge, type Metrics } from "@mcpx/host";
import { isObject, type JsonObject } from "@mcpx/protocol";

const serversMax = 100;
const states = ["up", "idle", "down", "degraded", "ailing", "needs authorisation"];

export function showServers({ state }: Pick<RunningTree, "state">, metrics: Metrics): void {
  const servers = metrics.gauge("servers", "Servers of the tree, by state", ["state"]);
  const processes = metrics.gauge("server_processes", "Processes of a server that is started here", [
    "server",
  ]);
  const memory = metrics.gauge(
    "server_memory_bytes",
    "Resident memory of the processes of a server that is started here",
    ["server"],
  );
  const cpu = metrics.gauge(
    "server_cpu_seconds",
    "Processor time of the processes of a server that is started here",
    ["server"],
  );
  const budget = metrics.gauge("server_budget_used_ratio", "Part of a budget of a server that is used", [
    "server",
    "budget",
  ]);
  const parents = metrics.gauge("parents", "Parent trees, by the state of the registration", ["state"]);
  const label = boundedLabel(serversMax);
  metrics.onScrape(() => {
    for (const gauge of [servers, processes, memory, cpu, budget, parents] as Gauge<string>[]) gauge.reset();
    for (const word of states) servers.set({ state: word }, 0);
    const others = serversOf(state).filter(({ segment }) => segment !== ownSegment);
    for (const status of others.map((one) => serverStatus(state, one))) {
      const server = label(String(status.segment ?? status.name));
      servers.inc({ state: String(status.state) });
      for (const child of objectsIn(status.processes)) {
        processes.inc({ server }, numberIn(child, "processes"));
        memory.inc({ server }, numberIn(child, "memory_bytes"));
        cpu.inc({ server }, numberIn(child, "cpu_ms") / 1_000);
      }
      for (const [name, use] of Object.entries(isObject(status.budget) ? status.budget : {}))
        if (isObject(use)) budget.set({ server, budget: name }, usedRatio(use));
    }
    for (const { state: word } of state.parents()) parents.inc({ state: word });
  });
}

function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function numberIn(object: JsonObject, key: string): number {
  const value = object[key];
  return typeof value === "number" ? value : 0;
}

/** A budget of nothing is used up. */
function usedRatio(use: JsonObject): number {
  const limit = numberIn(use, "limit");
  return limit === 0 ? 1 : numberIn(use, "used") / limit;
}
