// W3C Trace Context as it stands in `_meta` of a request: read strictly, written back. Pure.
import { isValidSpanId, isValidTraceId, type SpanContext, TraceFlags } from "@opentelemetry/api";

const shape = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Nothing where it is not of the form; a caller that sends nonsense begins a trace of its own. */
export function readTraceparent(value: unknown): SpanContext | undefined {
  if (typeof value !== "string" || value.length > 256) return undefined;
  const [, version, traceId = "", spanId = "", flags = "", more] = shape.exec(value) ?? [];
  // Later versions may have more at the end; the first has not, and the last is forbidden.
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (!isValidTraceId(traceId) || !isValidSpanId(spanId)) return undefined;
  const isSampled = (Number.parseInt(flags, 16) & TraceFlags.SAMPLED) !== 0;
  return { traceId, spanId, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true };
}

export function writeTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, "0")}`;
}
