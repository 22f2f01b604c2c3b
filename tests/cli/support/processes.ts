// The process table, as far as tests ask it.
import { readFileSync } from "node:fs";
import { onTestFinished } from "vitest";

/** A zombie is gone, whether or not somebody has taken notice. */
export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !/^\) [ZX]/.test(stat.slice(stat.lastIndexOf(")")));
  } catch {
    return false;
  }
}

/** Kills what a test may have left, whatever came of it. */
export function killLater(pid: number): void {
  onTestFinished(() => {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // As it should be.
    }
  });
}
