// The numbers behind the charts: counts, buckets of durations, parts of a whole, ticks. Pure.
import { type Decision, type Outcome, outcomes, waitedMs } from "./decisions.ts";

export interface Bar {
  readonly label: string;
  readonly count: number;
}

/** Each outcome, also those that never came. */
export function countOutcomes(decisions: readonly Decision[]): { outcome: Outcome; count: number }[] {
  return outcomes.map((outcome) => ({
    outcome,
    count: decisions.filter((one) => one.outcome === outcome).length,
  }));
}

const second = 1_000;
const minute = 60 * second;

/** The last has no end. */
const waitBuckets: readonly { label: string; belowMs: number }[] = [
  { label: "5 s", belowMs: 5 * second },
  { label: "15 s", belowMs: 15 * second },
  { label: "1 min", belowMs: minute },
  { label: "5 min", belowMs: 5 * minute },
  { label: "15 min", belowMs: 15 * minute },
  { label: "1 h", belowMs: 60 * minute },
  { label: "longer", belowMs: Number.POSITIVE_INFINITY },
];

/** How long people took: of what was approved or rejected. What nobody decided has no time to a decision. */
export function decisionTimes(decisions: readonly Decision[]): number[] {
  return decisions.flatMap((one) => {
    const isDecided = one.outcome === "approved" || one.outcome === "rejected";
    const ms = waitedMs(one);
    return isDecided && ms !== undefined ? [ms] : [];
  });
}

export function bucketTimes(times: readonly number[]): Bar[] {
  let fromMs = 0;
  return waitBuckets.map(({ label, belowMs }) => {
    const count = times.filter((ms) => ms >= fromMs && ms < belowMs).length;
    const isLast = belowMs === Number.POSITIVE_INFINITY;
    fromMs = belowMs;
    return { label: isLast ? label : `< ${label}`, count };
  });
}

/** The value that so much of them do not exceed; `undefined` where there are none. */
export function quantile(values: readonly number[], part: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(sorted.length * part) - 1))];
}

/** A round number that is not below any of them, so that an axis ends where people can read it. */
export function niceMax(values: readonly number[]): number {
  const most = Math.max(1, ...values);
  const power = 10 ** Math.floor(Math.log10(most));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= most) ?? 10;
  return step * power;
}

/** From 0 to 1 on an axis on which each step is ten times the one before; what is below the first is at its beginning. */
export function logPart(value: number, from: number, to: number): number {
  if (!(value > from)) return 0;
  return Math.min(1, Math.log(value / from) / Math.log(to / from));
}

/** What is quicker than this is at the beginning of the axis. */
const least = 0.1;

/** Whole powers of ten that hold all of them. */
export function logRange(values: readonly number[]): { from: number; to: number } {
  const known = values.filter((value) => value > 0);
  if (known.length === 0) return { from: 1, to: 1_000 };
  const from = 10 ** Math.floor(Math.log10(Math.max(least, Math.min(...known))));
  return { from, to: Math.max(from * 10, 10 ** Math.ceil(Math.log10(Math.max(...known)))) };
}

export function powersBetween(from: number, to: number): number[] {
  const first = Math.round(Math.log10(from));
  const last = Math.round(Math.log10(to));
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => 10 ** (first + i));
}

/** The most first; those that are too many become one. */
export function topBars(counts: Readonly<Record<string, number>>, max: number): Bar[] {
  const bars = Object.entries(counts)
    .map(([label, count]) => ({ label, count }))
    .sort((a, b) => b.count - a.count || (a.label < b.label ? -1 : 1));
  if (bars.length <= max) return bars;
  const rest = bars.slice(max - 1);
  const count = rest.reduce((sum, bar) => sum + bar.count, 0);
  return [...bars.slice(0, max - 1), { label: `${rest.length} others`, count }];
}

const units: readonly [number, string][] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [minute, "min"],
  [second, "s"],
];

/** `120 ms`, `4.2 s`, `3 min 20 s`. */
export function durationText(ms: number): string {
  if (ms < second) return `${ms < 10 && ms % 1 !== 0 ? ms.toFixed(1) : Math.round(ms)} ms`;
  if (ms < 10 * second) return `${Math.round(ms / 100) / 10} s`;
  const at = units.findIndex(([size]) => ms >= size);
  const [[size, unit], below] = [units[at] ?? [second, "s"], units[at + 1]];
  const whole = Math.floor(ms / size);
  const rest = below === undefined ? 0 : Math.floor((ms % size) / below[0]);
  return `${whole} ${unit}${rest > 0 && below !== undefined ? ` ${rest} ${below[1]}` : ""}`;
}
