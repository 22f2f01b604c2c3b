// What each test file costs: how long it took by the clock, of the runner's report, and how much of a processor it and
// the programs it started and saw end had, of what tests/support/tell-cost.ts wrote.
import { relative } from "node:path";

export interface FileCost {
  file: string;
  wallMs: number;
  /** Unknown where the system does not tell it. */
  cpuMs: number | undefined;
}

export interface Report {
  testResults: readonly { name: string; startTime: number; endTime: number }[];
}

/** `told` has a line `{file, cpuMs}` for each file that came to its end. */
export function fileCosts({ testResults }: Report, told: string): FileCost[] {
  const cpuMs = new Map<string, number>();
  for (const line of told.split("\n").filter((line) => line !== "")) {
    const { file, cpuMs: ms } = JSON.parse(line) as { file: string; cpuMs: number };
    cpuMs.set(file, ms);
  }
  return testResults.map(({ name, startTime, endTime }) => ({
    file: relative(".", name),
    wallMs: endTime - startTime,
    cpuMs: cpuMs.get(name),
  }));
}

/** The most expensive by the clock, and what all of them take together. */
export function costTable(costs: readonly FileCost[], count = 20): string {
  const shown = costs.toSorted((a, b) => b.wallMs - a.wallMs).slice(0, count);
  const sum = (of: (cost: FileCost) => number) => costs.reduce((total, cost) => total + of(cost), 0);
  const all: FileCost = {
    file: `all ${costs.length} files`,
    wallMs: sum(({ wallMs }) => wallMs),
    cpuMs: costs.some(({ cpuMs }) => cpuMs !== undefined) ? sum(({ cpuMs }) => cpuMs ?? 0) : undefined,
  };
  return ["   time     CPU", ...[...shown, all].map(rowOf)].join("\n");
}

function rowOf({ file, wallMs, cpuMs }: FileCost): string {
  return `${seconds(wallMs)} ${seconds(cpuMs)} ${file}`;
}

function seconds(ms: number | undefined): string {
  return (ms === undefined ? "–" : `${(ms / 1_000).toFixed(1)} s`).padStart(8);
}
