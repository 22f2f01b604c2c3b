// The latency of each tool of a server, kept as long as the server is known, and the annotation that shows it.
import { type Capability, capabilityKey, isObject, type LatencyClass, latencyClasses } from "@mcpx/protocol";
import type { Entry } from "../catalogue/catalogue.ts";
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

/** What we believe of it, with the class it was found to have on this path, and what was lost. [AX-9.2-4] [AX-13.2-2] */
export function shownCapability(entry: Entry): Readonly<Capability> | undefined {
  const { capability, server, name } = entry;
  if (capability === undefined) return undefined;
  const effective = server.latencies.get(name)?.effective ?? capability.latency_class;
  const isDegraded = server.degraded !== undefined;
  if (!isDegraded && effective === capability.latency_class) return capability;
  return { ...capability, latency_class: effective, ...(isDegraded && { availability: "degraded" }) };
}

/**
 * The annotation as its server gave it, whatever is in it: unknown fields stay, missing ones stay missing. Only the path
 * changes it: a class that calls have shown to be slower, and the loss of the server. For a server that gives none, the
 * hop it is attached to says what it believes. [AX-9.2-1] [AX-9.2-2] [AX-13.2-2]
 */
export function shownAnnotation(entry: Entry, believed: Readonly<Capability>): unknown {
  const { item, server } = entry;
  const said = isObject(item._meta) ? item._meta[capabilityKey] : undefined;
  if (said === undefined) return believed;
  if (!isObject(said)) return said;
  const isSlower =
    believed.latency_class !== declaredLatency(entry) && isBefore(said.latency_class, believed.latency_class);
  const isDegraded = server.degraded !== undefined;
  if (!isSlower && !isDegraded) return said;
  return {
    ...said,
    ...(isSlower && { latency_class: believed.latency_class }),
    ...(isDegraded && { availability: "degraded" }),
  };
}

function isBefore(said: unknown, found: LatencyClass): boolean {
  const place = latencyClasses.indexOf(said as LatencyClass);
  return place !== -1 && place < latencyClasses.indexOf(found);
}
