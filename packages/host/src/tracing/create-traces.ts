// Traces by the environment variables of OpenTelemetry: a tracer as its API has it, and the way to a collector.
import { randomBytes } from "node:crypto";
import {
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { Logger } from "../logging/log.ts";
import type { OtelSettings } from "./otel-settings.ts";
import { createOtlpExporter } from "./otlp-exporter.ts";
import { recordedSpan } from "./recorded-span.ts";
import { createSampler } from "./sampler.ts";

/** All that is used of a tracer: those of other libraries fit as well. */
export type SpanStarter = Pick<Tracer, "startSpan">;

export interface Traces {
  readonly tracer: SpanStarter;
  close(): Promise<void>;
}

const now = () => performance.timeOrigin + performance.now();

export function createTraces(settings: OtelSettings, log: Logger, nowMs: () => number = now): Traces {
  const exporter = createOtlpExporter(settings, log);
  const isSampled = createSampler(settings.sampler, settings.samplerRatio);
  const startSpan: Tracer["startSpan"] = (name, options = {}, context = ROOT_CONTEXT) => {
    const given = options.root === true ? undefined : trace.getSpanContext(context);
    const parent = given !== undefined && isSpanContextValid(given) ? given : undefined;
    const traceId = parent?.traceId ?? randomBytes(16).toString("hex");
    const isKept = isSampled(traceId, parent);
    const spanContext = {
      traceId,
      spanId: randomBytes(8).toString("hex"),
      traceFlags: isKept ? TraceFlags.SAMPLED : TraceFlags.NONE,
    };
    if (!isKept) return trace.wrapSpanContext(spanContext);
    const record = {
      context: spanContext,
      parentSpanId: parent?.spanId,
      ...{ name, kind: options.kind ?? SpanKind.INTERNAL, attributes: new Map(), events: [], links: [] },
      status: { code: SpanStatusCode.UNSET },
      startMs: nowMs(),
      endMs: 0,
    };
    const span = recordedSpan(record, nowMs, exporter.take);
    if (options.attributes !== undefined) span.setAttributes(options.attributes);
    if (options.links !== undefined) span.addLinks(options.links);
    return span;
  };
  return { tracer: { startSpan }, close: exporter.close };
}
