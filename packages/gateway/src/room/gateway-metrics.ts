// What the rooms count.
import type { Metrics } from "@mcpx/host";

/** People decide in seconds, or after lunch. */
const decisionSeconds = [1, 5, 15, 30, 60, 120, 300, 900, 3_600, 14_400];

export type GatewayMetrics = ReturnType<typeof createGatewayMetrics>;

export function createGatewayMetrics(metrics: Metrics) {
  return {
    received: metrics.counter("envelopes_received_total", "Envelopes accepted from participants", ["kind"]),
    refused: metrics.counter("envelopes_refused_total", "Envelopes refused", ["reason"]),
    delivered: metrics.counter("envelopes_delivered_total", "Envelopes handed to connections"),
    slowConsumers: metrics.counter(
      "slow_consumers_total",
      "Connections cut off because they read too slowly",
    ),
    connections: metrics.gauge("connections", "Live room connections"),
    rooms: metrics.gauge("rooms", "Rooms with members"),
    proposals: metrics.counter("proposals_total", "Proposals of rooms that ended, by outcome", ["outcome"]),
    proposalDecision: metrics.histogram(
      "proposal_decision_seconds",
      "Time from a proposal to its end, by outcome",
      decisionSeconds,
      ["outcome"],
    ),
    proposalsWaiting: metrics.gauge("proposals_waiting", "Proposals of rooms that wait for a decision"),
    append: metrics.histogram(
      "append_seconds",
      "Time from the receipt of an envelope until it is on disk",
      [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1],
    ),
  };
}
