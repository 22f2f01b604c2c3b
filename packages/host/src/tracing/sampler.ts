// Which traces are kept. A trace that comes from elsewhere is kept where it is kept there, unless the name says otherwise.
// Pure.
import { type SpanContext, TraceFlags } from "@opentelemetry/api";

export type Sampler = (traceId: string, parent: SpanContext | undefined) => boolean;

export const samplerNames = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

export type SamplerName = (typeof samplerNames)[number];

export function createSampler(name: SamplerName, ratio = 1): Sampler {
  const isParentBased = name.startsWith("parentbased_");
  const root = isParentBased ? name.slice("parentbased_".length) : name;
  return (traceId, parent) => {
    if (isParentBased && parent !== undefined) return (parent.traceFlags & TraceFlags.SAMPLED) !== 0;
    if (root === "traceidratio") return isWithin(traceId, ratio);
    return root === "always_on";
  };
}

/** By the trace's own id, so that every gateway on its way decides alike. */
function isWithin(traceId: string, ratio: number): boolean {
  const bits = 52;
  return Number.parseInt(traceId.slice(-bits / 4), 16) < ratio * 2 ** bits;
}
