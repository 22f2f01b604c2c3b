// A process group, named by its leader: whether somebody of it lives, and its end. It imports nothing of ours, since
// the reaper stands on it too.
import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

export interface Group {
  readonly pid: number;
  /** When its leader began, as the kernel counts; empty where that cannot be known. */
  readonly began: string;
}

/** Between asking a group to end and making it. */
export const graceMs = 2_000;
const lookMs = 25;
const lastMs = 500;

/** To be asked before anybody could have taken notice of its leader's end. */
export function groupOf(pid: number): Group {
  return { pid, began: beganAt(pid) };
}

/** Asks it to end, then makes it. Whether nobody is left. */
export async function endGroup(group: Group): Promise<boolean> {
  if (!signalGroup(group, "SIGTERM") || (await isGone(group, graceMs))) return true;
  signalGroup(group, "SIGKILL");
  return await isGone(group, lastMs);
}

async function isGone(group: Group, withinMs: number): Promise<boolean> {
  const until = performance.now() + withinMs;
  while (performance.now() < until) {
    await wait(lookMs);
    if (!signalGroup(group, 0)) return true;
  }
  return false;
}

/**
 * Whether there was anybody to hear it. While anybody of a group lives, its number is nobody else's; so a caller that
 * has the number and began at another time is a stranger, and the group is over.
 */
export function signalGroup({ pid, began }: Group, signal: NodeJS.Signals | 0): boolean {
  const now = beganAt(pid);
  if (began !== "" && now !== "" && now !== began) return false;
  try {
    process.kill(-pid, signal);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function beganAt(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // After the name, which may hold anything.
    return stat.slice(stat.lastIndexOf(")")).split(" ")[20] ?? "";
  } catch {
    return "";
  }
}
