// Everybody below a process, as the kernel knows them.
import { readdirSync, readFileSync } from "node:fs";
import { isRunning } from "../../cli/support/processes.ts";

export function descendants(of: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")")).split(" ")[2]));
    } catch {
      // The process has just ended.
    }
  }
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent !== undefined && parent > 1 && (parent === of || isBelow(parent));
  };
  return [...parents.keys()].filter((pid) => isBelow(pid) && isRunning(pid));
}
