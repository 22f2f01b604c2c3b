import type { GateWatcher } from "@mcpx/aggregator";
import { createMetrics } from "@mcpx/host";
import { expect, test } from "vitest";
import { watchGates } from "./gate-metrics.ts";

type Gate = Parameters<NonNullable<GateWatcher["changed"]>>[0];

const gate = (id: string, status: Gate["status"], more: Partial<Gate> = {}) =>
  ({ id, status, createdAt: 1_000, ...more }) as Gate;

/** Those that waited before, and a way to say what becomes of gates. */
async function watched(before: readonly Gate[] = []) {
  const metrics = createMetrics();
  const watchers = new Set<GateWatcher>();
  const store = {
    list: async (query: { status?: Gate["status"] | undefined } = {}) =>
      before.filter(({ status }) => status === query.status),
  };
  await watchGates({ gates: { watchers, store }, metrics, clock: { now: () => 11_000 } });
  return {
    opened: (one: Gate) => watchers.forEach(({ opened }) => void opened?.(one)),
    changed: (one: Gate) => watchers.forEach(({ changed }) => void changed?.(one)),
    lines: async () =>
      (await metrics.text())
        .split("\n")
        .filter((line) => /^mcpx_gates?_/.test(line) && !line.includes("_bucket")),
  };
}

test("a gate is decided once, however often its end is told", async () => {
  const { opened, changed, lines } = await watched();
  opened(gate("a", "pending"));
  // The first of two approvals.
  changed(gate("a", "pending"));
  for (const status of ["approved", "consumed", "done"] as const) changed(gate("a", status));
  expect(await lines()).toEqual([
    'mcpx_gates_opened_total{what="call"} 1',
    'mcpx_gates_decided_total{what="call",outcome="approved"} 1',
    'mcpx_gate_decision_seconds_sum{what="call",outcome="approved"} 10',
    'mcpx_gate_decision_seconds_count{what="call",outcome="approved"} 1',
    'mcpx_gates_waiting{what="call"} 0',
    'mcpx_gates_waiting{what="result"} 0',
  ]);
});

test("held results are decided for themselves", async () => {
  const { opened, changed, lines } = await watched();
  for (const id of ["a", "b", "c"]) {
    opened(gate(id, "pending"));
    changed(gate(id, "held", { heldAt: 9_000 }));
  }
  changed(gate("a", "done", { heldAt: 9_000 }));
  changed(gate("b", "withheld", { heldAt: 9_000 }));
  expect(await lines()).toEqual(
    expect.arrayContaining([
      'mcpx_gates_decided_total{what="call",outcome="approved"} 3',
      'mcpx_gates_opened_total{what="result"} 3',
      'mcpx_gates_decided_total{what="result",outcome="released"} 1',
      'mcpx_gates_decided_total{what="result",outcome="withheld"} 1',
      'mcpx_gate_decision_seconds_sum{what="result",outcome="released"} 2',
      'mcpx_gates_waiting{what="result"} 1',
    ]),
  );
});

test("what waited before the start is decided here and was opened elsewhere; what ended before is nothing", async () => {
  const { changed, lines } = await watched([gate("a", "pending"), gate("b", "held"), gate("c", "done")]);
  changed(gate("a", "expired"));
  changed(gate("c", "done"));
  expect(await lines()).toEqual([
    'mcpx_gates_decided_total{what="call",outcome="expired"} 1',
    'mcpx_gate_decision_seconds_sum{what="call",outcome="expired"} 10',
    'mcpx_gate_decision_seconds_count{what="call",outcome="expired"} 1',
    'mcpx_gates_waiting{what="call"} 0',
    'mcpx_gates_waiting{what="result"} 1',
  ]);
});
