// How slow a tool really is on this path: its class is raised when its calls show it, and only ever raised above what it
// declares. Pure. [AX-9.2-4]
import { type LatencyClass, latencyClasses } from "@mcpx/protocol";
import { classMs } from "./patience.ts";

export interface Latency {
  /** The last calls' ms, oldest overwritten first. */
  readonly recent: number[];
  next: number;
  effective: LatencyClass;
}

const kept = 64;
/** Fewer say nothing about a p95. */
const callsMin = 20;
/** Coming down again takes clearly less than going up. */
const downFactor = 0.7;

export function createLatency(declared: LatencyClass): Latency {
  return { recent: [], next: 0, effective: declared };
}

export function observe(latency: Latency, declared: LatencyClass, ms: number): void {
  latency.recent[latency.next] = ms;
  latency.next = (latency.next + 1) % kept;
  // Sorting is for now and then.
  if (latency.recent.length < callsMin || latency.next % 8 !== 0) return;
  const p95 = percentile95(latency.recent);
  const up = slower(declared, classFor(p95));
  const down = slower(declared, classFor(p95 / downFactor));
  if (rank(up) > rank(latency.effective)) latency.effective = up;
  else if (rank(down) < rank(latency.effective)) latency.effective = down;
}

/** The quickest class whose time is enough. */
function classFor(ms: number): LatencyClass {
  return latencyClasses.find((name) => ms < (classMs[name] ?? Number.POSITIVE_INFINITY)) ?? "batch";
}

function slower(a: LatencyClass, b: LatencyClass): LatencyClass {
  return rank(a) >= rank(b) ? a : b;
}

function rank(name: LatencyClass): number {
  return latencyClasses.indexOf(name);
}

function percentile95(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.95))] ?? 0;
}
