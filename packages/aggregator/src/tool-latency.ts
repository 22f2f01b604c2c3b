// The latency of each tool of a server, kept as long as the server is known, and the annotation that shows it.
import type { Capability, LatencyClass } from "@mcpx/protocol";
import type { Entry } from "./catalogue.ts";
import { createLatency, type Latency } from "./latency.ts";

/** More than any server's tools; a server that invents names does not fill the memory. */
const latenciesMax = 20_000;

export function declaredLatency({ capability }: Entry): LatencyClass {
  return capability?.latency_class ?? "standard";
}

export function latencyOf(entry: Entry): Latency {
  const { latencies } = entry.server;
  const known = latencies.get(entry.name);
  if (known !== undefined) return known;
  const [oldest] = latencies.keys();
  if (latencies.size >= latenciesMax && oldest !== undefined) latencies.delete(oldest);
  const made = createLatency(declaredLatency(entry));
  latencies.set(entry.name, made);
  return made;
}

/** As it is declared, but for a class that was found to be slower, and what was lost. [AX-9.2-1] [AX-13.2-2] */
export function shownCapability(entry: Entry): Readonly<Capability> | undefined {
  const { capability, server, name } = entry;
  if (capability === undefined) return undefined;
  const effective = server.latencies.get(name)?.effective ?? capability.latency_class;
  const isDegraded = server.degraded !== undefined;
  if (!isDegraded && effective === capability.latency_class) return capability;
  return { ...capability, latency_class: effective, ...(isDegraded && { availability: "degraded" }) };
}
