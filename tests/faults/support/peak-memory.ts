// The most memory a process has ever had resident, as the kernel counts it.
import { readFileSync } from "node:fs";

export function peakBytes(pid: number): number {
  const line = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(line?.[1]) * 1024;
}
