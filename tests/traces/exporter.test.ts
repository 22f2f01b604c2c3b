// The way of spans to a collector that is away, and to one that takes less than there is.
import { createLogger, createTraces, otelSettings } from "@mcpx/host";
import { expect, onTestFinished, test } from "vitest";
import { startReceiver } from "./support/otlp-receiver.ts";

async function traced(env: Record<string, string> = {}) {
  const collector = await startReceiver();
  onTestFinished(() => collector.close());
  const logged: string[] = [];
  const log = createLogger({
    level: "warn",
    destination: { write: (line: string) => void logged.push(line) },
  });
  const settings = otelSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env }, "1");
  if (settings === undefined) throw new Error("nothing is traced");
  return { collector, logged, ...createTraces(settings, log) };
}

test("what a collector could not take now is sent again", async () => {
  const { collector, logged, tracer, close } = await traced({ OTEL_BSP_SCHEDULE_DELAY: "1" });
  collector.away.push(503);
  tracer.startSpan("first").end();
  await expect.poll(() => collector.spans.map(({ name }) => name)).toEqual(["first"]);
  expect(collector.headers).toHaveLength(2);
  await close();
  expect([collector.faults, logged]).toEqual([[], []]);
});

test("what it refuses for good is given up, once, and said", async () => {
  const { collector, logged, tracer, close } = await traced();
  collector.away.push(400);
  tracer.startSpan("refused").end();
  await close();
  expect(collector.headers).toHaveLength(1);
  expect(logged.map((line) => JSON.parse(line))).toMatchObject([
    { msg: "traces lost", lost: 1, why: "HTTP 400" },
  ]);
});

test("more than the queue holds is lost, and the rest arrives in batches", async () => {
  const { collector, logged, tracer, close } = await traced({
    OTEL_BSP_MAX_QUEUE_SIZE: "10",
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "100",
  });
  for (let i = 0; i < 15; i += 1) tracer.startSpan(`s${i}`).end();
  await close();
  expect(collector.spans).toHaveLength(10);
  expect(logged).toHaveLength(1);
});

test("values of any kind arrive as they are, cut where they are too long; a span that has ended is left alone", async () => {
  const { collector, tracer, close } = await traced();
  const span = tracer.startSpan("all", { attributes: { n: 1, f: 0.5, b: true, long: "x".repeat(5_000) } });
  span.addEvent("seen", { at: "door" }).setStatus({ code: 2, message: "no" });
  span.end();
  span.setAttribute("late", 1).end();
  await close();
  expect(collector.faults).toEqual([]);
  expect(collector.spans).toHaveLength(1);
  expect(collector.spans[0]).toMatchObject({
    attributes: [
      { key: "n", value: { intValue: "1" } },
      { key: "f", value: { doubleValue: 0.5 } },
      { key: "b", value: { boolValue: true } },
      { key: "long", value: { stringValue: "x".repeat(1_024) } },
    ],
    events: [{ name: "seen", attributes: [{ key: "at", value: { stringValue: "door" } }] }],
    status: { code: 2, message: "no" },
  });
});

test("a trace that its caller does not keep is not sent, and goes on as not kept", async () => {
  const { collector, tracer, close } = await traced({ OTEL_TRACES_SAMPLER: "always_off" });
  const span = tracer.startSpan("nothing");
  expect(span.spanContext().traceFlags).toBe(0);
  span.end();
  await close();
  expect(collector.headers).toEqual([]);
});
