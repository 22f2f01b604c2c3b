// What the rooms count.
import type { Metrics } from "@mcpx/host";

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
    append: metrics.histogram(
      "append_seconds",
      "Time from receipt to durable",
      [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1],
    ),
  };
}
