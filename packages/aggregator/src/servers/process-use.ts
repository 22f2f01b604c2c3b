// What children use of this machine, each with all of its process group. Only Linux tells.
import { readdirSync, readFileSync } from "node:fs";

export interface ProcessUse {
  /** Of the group. */
  processes: number;
  /** Resident. */
  memoryBytes: number;
  /** Since they began. */
  cpuMs: number;
}

interface Member {
  pid: string;
  cpuTicks: number;
}

/** The table is read this often at most, however many ask. */
const goodMs = 1_000;
/** The same on every Linux one meets. */
const tickMs = 10;

let known: { groups: ReadonlyMap<number, Member[]>; at: number } | undefined;

/** `pid` is the group's leader. `undefined` where nobody of it is found. */
export function useOf(pid: number): ProcessUse | undefined {
  if (process.platform !== "linux") return undefined;
  const now = performance.now();
  if (known === undefined || now - known.at > goodMs) known = { groups: readTable(), at: now };
  const members = known.groups.get(pid);
  if (members === undefined) return undefined;
  return {
    processes: members.length,
    memoryBytes: members.reduce((sum, member) => sum + residentBytes(member.pid), 0),
    cpuMs: members.reduce((sum, { cpuTicks }) => sum + cpuTicks * tickMs, 0),
  };
}

function readTable(): Map<number, Member[]> {
  const members = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const stat = read(`/proc/${pid}/stat`);
      // After the name, which may hold anything: state, parent, group, …
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (fields.length < 13) return [];
      return [{ pid, group: Number(fields[2]), cpuTicks: Number(fields[11]) + Number(fields[12]) }];
    });
  return Map.groupBy(members, ({ group }) => group);
}

function residentBytes(pid: string): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1_024;
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    // The process has just ended.
    return "";
  }
}
