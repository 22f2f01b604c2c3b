import { TraceFlags } from "@opentelemetry/api";
import { expect, test } from "vitest";
import { otelSettings } from "./otel-settings.ts";
import { createSampler } from "./sampler.ts";
import { readTraceparent, writeTraceparent } from "./trace-context.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const spanId = "00f067aa0ba902b7";

test("a traceparent is read and written back", () => {
  const text = `00-${traceId}-${spanId}-01`;
  const read = readTraceparent(text);
  expect(read).toEqual({ traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true });
  expect(read && writeTraceparent(read)).toBe(text);
  expect(readTraceparent(`cc-${traceId}-${spanId}-00-more`)?.traceFlags).toBe(TraceFlags.NONE);
});

test.for<unknown>([
  undefined,
  7,
  "",
  `00-${traceId}-${spanId}`,
  `00-${traceId.toUpperCase()}-${spanId}-01`,
  `00-${"0".repeat(32)}-${spanId}-01`,
  `00-${traceId}-${"0".repeat(16)}-01`,
  `ff-${traceId}-${spanId}-01`,
  `00-${traceId}-${spanId}-01-more`,
  `01-${traceId}-${spanId}-01-${"x".repeat(300)}`,
])("%s is no traceparent", (value) => {
  expect(readTraceparent(value)).toBeUndefined();
});

test("samplers follow the caller where they say so, and else the ratio, alike for the same trace", () => {
  const parent = (traceFlags: number) => ({ traceId, spanId, traceFlags });
  expect(createSampler("parentbased_always_on")(traceId, parent(TraceFlags.NONE))).toBe(false);
  expect(createSampler("parentbased_always_off")(traceId, parent(TraceFlags.SAMPLED))).toBe(true);
  expect(createSampler("always_on")(traceId, parent(TraceFlags.NONE))).toBe(true);
  expect(createSampler("always_off")(traceId, undefined)).toBe(false);
  // Evenly spread over the part of an id that counts.
  const idOf = (part: number) =>
    Math.floor(part * 2 ** 52)
      .toString(16)
      .padStart(13, "0")
      .padStart(32, "a");
  const ids = Array.from({ length: 1_000 }, (_, i) => idOf((i + 0.5) / 1_000));
  const quarter = createSampler("parentbased_traceidratio", 0.25);
  expect(ids.filter((id) => quarter(id, undefined))).toHaveLength(250);
  expect(createSampler("traceidratio", 0)(traceId, undefined)).toBe(false);
  expect(createSampler("traceidratio", 1)("f".repeat(32), undefined)).toBe(true);
});

test("nobody who asks for nothing is traced", () => {
  for (const env of [
    {},
    { OTEL_SERVICE_NAME: "x" },
    { OTEL_TRACES_EXPORTER: "none", OTEL_EXPORTER_OTLP_ENDPOINT: "http://a" },
    { OTEL_SDK_DISABLED: "TRUE", OTEL_EXPORTER_OTLP_ENDPOINT: "http://a" },
  ])
    expect(otelSettings(env, "1")).toBeUndefined();
});

test("the variables of OpenTelemetry are read", () => {
  expect(otelSettings({ OTEL_TRACES_EXPORTER: "otlp" }, "1.2.3")).toEqual({
    url: "http://localhost:4318/v1/traces",
    headers: {},
    timeoutMs: 10_000,
    resource: { "service.name": "mcpx", "service.version": "1.2.3" },
    sampler: "parentbased_always_on",
    samplerRatio: 1,
    delayMs: 5_000,
    queueMax: 2_048,
    batchMax: 512,
  });
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: "https://c.example/base/",
    OTEL_EXPORTER_OTLP_HEADERS: "a=b%3D1, c=d=e",
    OTEL_RESOURCE_ATTRIBUTES: "service.name=other,deployment.environment.name=test",
    OTEL_TRACES_SAMPLER: "traceidratio",
    OTEL_TRACES_SAMPLER_ARG: "0.5",
  };
  expect(otelSettings(env, "1")).toMatchObject({
    url: "https://c.example/base/v1/traces",
    headers: { a: "b=1", c: "d=e" },
    resource: { "service.name": "other", "deployment.environment.name": "test" },
    sampler: "traceidratio",
    samplerRatio: 0.5,
  });
  const own = { ...env, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://t.example/x" };
  expect(otelSettings(own, "1")?.url).toBe("http://t.example/x");
});

test.for<[Record<string, string>, string]>([
  [{ OTEL_TRACES_EXPORTER: "zipkin" }, 'OTEL_TRACES_EXPORTER is "zipkin"; it is otlp or none'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "localhost:4318" }, "it is an address like http://localhost:4318"],
  [{ OTEL_TRACES_EXPORTER: "otlp", OTEL_TRACES_SAMPLER: "some" }, 'OTEL_TRACES_SAMPLER is "some"'],
  [{ OTEL_TRACES_EXPORTER: "otlp", OTEL_BSP_MAX_QUEUE_SIZE: "-1" }, 'OTEL_BSP_MAX_QUEUE_SIZE is "-1"'],
])("%s is refused with the reason", ([env, reason]) => {
  expect(() => otelSettings(env, "1")).toThrow(reason);
});
