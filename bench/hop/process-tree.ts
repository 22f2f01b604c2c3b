// A process and all it has started, as the kernel tells it: CPU time, memory, command line.
import { readdirSync, readFileSync } from "node:fs";

export interface ProcessFacts {
  pid: number;
  command: string;
  /** User and system time of all its threads, µs; in steps of 10 000. */
  cpuUs: number;
  rssBytes: number;
}

const usPerTick = 10_000;
const pageBytes = 4_096;

/** The process itself first. Empty when it is gone. */
export function processTree(root: number): ProcessFacts[] {
  const children = new Map<number, number[]>();
  const facts = new Map<number, ProcessFacts>();
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    const seen = Number.isNaN(pid) ? undefined : look(pid);
    if (seen === undefined) continue;
    facts.set(pid, seen.facts);
    children.set(seen.parent, [...(children.get(seen.parent) ?? []), pid]);
  }
  const found: ProcessFacts[] = [];
  const visit = (pid: number) => {
    const own = facts.get(pid);
    if (own === undefined) return;
    found.push(own);
    for (const child of children.get(pid) ?? []) visit(child);
  };
  visit(root);
  return found;
}

function look(pid: number): { facts: ProcessFacts; parent: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the name in parentheses, and may hold anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    const cpuUs = (Number(fields[11]) + Number(fields[12])) * usPerTick;
    const rssBytes = Number(fields[21]) * pageBytes;
    return { facts: { pid, command, cpuUs, rssBytes }, parent: Number(fields[1]) };
  } catch {
    // It ended while we looked.
    return undefined;
  }
}
