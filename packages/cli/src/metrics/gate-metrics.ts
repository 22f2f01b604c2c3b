// Gates for `/metrics`: how many wait, how each was decided, and how long that took. A gate is decided once as a call,
// and, where its result is held, once more as a result.
import type { Gatekeeper, GateWatcher } from "@mcpx/aggregator";
import type { Clock, Metrics } from "@mcpx/host";

type WatchedGate = Parameters<NonNullable<GateWatcher["changed"]>>[0];

/** What is decided about. */
type What = "call" | "result";

export interface GateMetricsParts {
  gates: Pick<Gatekeeper, "watchers"> & { store: Pick<Gatekeeper["store"], "list"> };
  metrics: Metrics;
  clock: Pick<Clock, "now">;
}

/** People decide in seconds, or after lunch. */
const bucketsSeconds = [1, 5, 15, 30, 60, 120, 300, 900, 3_600, 14_400];

export async function watchGates({ gates, metrics, clock }: GateMetricsParts): Promise<void> {
  const opened = metrics.counter("gates_opened_total", "Calls and results that began to wait at a gate", [
    "what",
  ]);
  const decided = metrics.counter("gates_decided_total", "Gates that were decided or expired", [
    "what",
    "outcome",
  ]);
  const seconds = metrics.histogram(
    "gate_decision_seconds",
    "Time from the opening of a gate to its decision",
    bucketsSeconds,
    ["what", "outcome"],
  );
  const waitingNow = metrics.gauge("gates_waiting", "Calls and results that wait at a gate", ["what"]);
  /** Since when; the store bounds how many there are. */
  const waiting = { call: new Map<string, number>(), result: new Map<string, number>() };
  const begin = (what: What, id: string, at: number) => {
    if (waiting[what].has(id)) return;
    waiting[what].set(id, at);
    opened.inc({ what });
  };
  const end = (what: What, id: string, outcome: string) => {
    const since = waiting[what].get(id);
    if (since === undefined) return;
    waiting[what].delete(id);
    decided.inc({ what, outcome });
    seconds.observe({ what, outcome }, Math.max(0, clock.now() - since) / 1_000);
  };
  const look = (gate: WatchedGate) => {
    if (gate.status === "pending") begin("call", gate.id, gate.createdAt);
    else end("call", gate.id, callOutcome(gate));
    if (gate.status === "held") begin("result", gate.id, gate.heldAt ?? clock.now());
    else if (gate.status !== "pending") end("result", gate.id, resultOutcome(gate));
  };
  gates.watchers.add({ opened: look, changed: look });
  // What waited when the process before this one ended was counted there.
  for (const { id, createdAt } of await gates.store.list({ status: "pending" }))
    waiting.call.set(id, createdAt);
  for (const { id, createdAt, heldAt } of await gates.store.list({ status: "held" }))
    waiting.result.set(id, heldAt ?? createdAt);
  metrics.onScrape(() => {
    for (const what of ["call", "result"] as const) waitingNow.set({ what }, waiting[what].size);
  });
}

/** Everything that follows an approval has been approved. */
function callOutcome({ status }: WatchedGate): string {
  return status === "rejected" || status === "expired" ? status : "approved";
}

function resultOutcome({ status }: WatchedGate): string {
  return status === "done" || status === "failed" ? "released" : "withheld";
}
