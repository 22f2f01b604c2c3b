// Spans as OTLP wants them in JSON. Pure.
import type { Attributes, AttributeValue } from "@opentelemetry/api";
import type { SpanRecord } from "./recorded-span.ts";

export function otlpJson(records: readonly SpanRecord[], resource: Attributes, scopeVersion: string): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: pairs(Object.entries(resource)) },
        scopeSpans: [{ scope: { name: "mcpx", version: scopeVersion }, spans: records.map(spanJson) }],
      },
    ],
  });
}

function spanJson(record: SpanRecord) {
  const { context, parentSpanId, name, kind, attributes, events, links, status, startMs, endMs } = record;
  return {
    traceId: context.traceId,
    spanId: context.spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    flags: context.traceFlags,
    name,
    // The API counts from 0, the wire from 1: there 0 is unspecified.
    kind: kind + 1,
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: pairs([...attributes]),
    events: events.map((event) => ({
      timeUnixNano: nanoseconds(event.atMs),
      name: event.name,
      attributes: pairs(Object.entries(event.attributes)),
    })),
    links: links.map(({ traceId, spanId }) => ({ traceId, spanId })),
    status: { code: status.code, ...(status.message !== undefined && { message: status.message }) },
  };
}

/** As text: numbers of JSON are too short for it. */
function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * 1_000)) * 1_000n);
}

function pairs(entries: readonly (readonly [string, AttributeValue | undefined])[]) {
  return entries.flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: anyValue(value) }]));
}

function anyValue(value: AttributeValue | null | undefined): object {
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number")
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { stringValue: String(value ?? "") };
}
