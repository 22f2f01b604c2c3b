// The process table as far as these tests ask it: who is below whom, and who is a reaper.
import { readdirSync, readFileSync } from "node:fs";
import { isRunning } from "../../../cli/support/processes.ts";

function parents(): Map<number, number> {
  const found = new Map<number, number>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    const stat = read(`/proc/${name}/stat`);
    if (stat !== "") found.set(Number(name), Number(stat.slice(stat.lastIndexOf(")")).split(" ")[2]));
  }
  return found;
}

/** Everybody below this process that lives. */
export function descendantsOf(pid: number): number[] {
  const table = parents();
  const isBelow = (one: number): boolean => {
    const parent = table.get(one);
    return parent !== undefined && parent > 1 && (parent === pid || isBelow(parent));
  };
  return [...table.keys()].filter((one) => isBelow(one) && isRunning(one));
}

/** The reapers of this process. */
export function reapersOf(pid: number): number[] {
  return descendantsOf(pid).filter((one) => /\0\S*\/reaper\.[tj]s\0/.test(read(`/proc/${one}/cmdline`)));
}

export function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1_024;
}

/** Open descriptors of ours. */
export function descriptors(): number {
  return readdirSync("/proc/self/fd").length;
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    // The process has just ended.
    return "";
  }
}
