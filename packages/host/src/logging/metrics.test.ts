import { expect, test } from "vitest";
import { createMetrics } from "./metrics.ts";

test("metrics carry our prefix, the process's own included", async () => {
  const metrics = createMetrics();
  metrics.counter("joins_total", "Joins", ["topic"]).inc({ topic: "demo" });
  metrics.gauge("connections", "Connections").set(3);
  metrics.histogram("append_seconds", "Time to append", [0.1, 1]).observe(0.5);
  const text = await metrics.text();
  expect(text).toContain('mcpx_joins_total{topic="demo"} 1');
  expect(text).toContain("mcpx_connections 3");
  expect(text).toContain('mcpx_append_seconds_bucket{le="1"} 1');
  expect(text).toContain("mcpx_process_cpu_seconds_total");
  expect(metrics.contentType).toContain("text/plain");
});

test("the same name is the same metric, and two registries are apart", async () => {
  const metrics = createMetrics();
  metrics.counter("joins_total", "Joins").inc();
  metrics.counter("joins_total", "Joins").inc();
  expect(await metrics.text()).toContain("mcpx_joins_total 2");
  expect(await createMetrics().text()).not.toContain("mcpx_joins_total");
});
