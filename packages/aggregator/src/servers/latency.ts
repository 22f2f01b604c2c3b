// How slow a tool really is on this path: its class is raised when its calls show it, and only ever raised above what it
// declares. Pure. [AX-9.2-4]
import { type LatencyClass, latencyClasses } from "@mcpx/protocol";
import { classMs } from "../mcp/call-deadline.ts";

export interface Latency {
  /** The last calls' ms, oldest overwritten first. */
  readonly recent: number[];
  next: number;
  effective: LatencyClass;
}

const kept = 64;
/** Beyond so many, figures are not worth the sorting. */
const figuresMax = 10_000;
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

export interface LatencyFigures {
  /** How many the figures are made of. */
  calls: number;
  p50_ms: number;
  p95_ms: number;
}

/** Of the last calls of all these together; `undefined` where there were none. */
export function figuresOf(latencies: Iterable<Latency>): LatencyFigures | undefined {
  const values: number[] = [];
  for (const { recent } of latencies) {
    if (values.length >= figuresMax) break;
    values.push(...recent);
  }
  if (values.length === 0) return undefined;
  values.sort((a, b) => a - b);
  return { calls: values.length, p50_ms: rounded(values, 0.5), p95_ms: rounded(values, 0.95) };
}

function rounded(sorted: readonly number[], part: number): number {
  return Math.round(atPart(sorted, part) * 10) / 10;
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
  return atPart(
    values.toSorted((a, b) => a - b),
    0.95,
  );
}

function atPart(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
