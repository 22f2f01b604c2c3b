// Tool calls for `/metrics`: how many by server and outcome, and how long they took. Figures for people are in
// `call-figures.ts`.
import { boundedLabel, type Metrics } from "@mcpx/host";

export interface CallMeter {
  /** `outcome` is `ok`, `tool_error`, or the word of the error. */
  called(server: string, outcome: string, ms: number): void;
  /** Counts a call that reached no server. */
  refused(reason: string): void;
}

const bucketsSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
/** Servers come and go, and may register under any name. */
const serversMax = 100;
/** Words of errors that servers below a tree give are theirs. */
const reasonsMax = 50;

export function createCallMeter(metrics: Metrics): CallMeter {
  const calls = metrics.counter("tool_calls_total", "Tool calls sent to servers", ["server", "outcome"]);
  const seconds = metrics.histogram(
    "tool_call_seconds",
    "Time from sending a tool call to its answer",
    bucketsSeconds,
    ["server"],
  );
  const refusals = metrics.counter("tool_calls_refused_total", "Tool calls that reached no server", [
    "reason",
  ]);
  const serverLabel = boundedLabel(serversMax);
  const reasonLabel = boundedLabel(reasonsMax);
  return {
    called(name, outcome, ms) {
      const server = serverLabel(name);
      calls.inc({ server, outcome: reasonLabel(outcome) });
      seconds.observe({ server }, ms / 1_000);
    },
    refused: (reason) => refusals.inc({ reason: reasonLabel(reason) }),
  };
}
