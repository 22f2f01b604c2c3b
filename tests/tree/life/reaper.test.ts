// One process watches over all children of another, and ends them when that one is gone.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { isRunning, killLater } from "../../cli/support/processes.ts";
import { programPath } from "../../support/programs.ts";
import { reapersOf, residentBytes } from "./support/process-table.ts";

const root = dirname(dirname(dirname(import.meta.dirname)));
const reaper = join(root, "packages/aggregator/src/links/reaper.ts");
const gone = { timeout: 5_000 };

async function startOwner(count: number, ...command: string[]) {
  const script = programPath("tests/tree/life/support/owner.ts");
  const args = ["--conditions=mcpx-source", script, String(count), ...command];
  const owner = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], cwd: root });
  const pid = owner.pid as number;
  killLater(pid);
  const [line] = await once(createInterface({ input: owner.stdout }), "line");
  const pids = String(line).split(" ").map(Number);
  pids.forEach(killLater);
  return { pid, pids };
}

function startReaper(lines: string) {
  const child = spawn(process.execPath, [reaper], { stdio: ["pipe", "inherit", "inherit"] });
  killLater(child.pid as number);
  child.stdin.write(lines);
  return child;
}

/** In a group of its own. */
function startSleeper(): { pid: number; began: string } {
  const child = spawn("/bin/sleep", ["1000"], { stdio: "ignore", detached: true });
  const pid = child.pid as number;
  killLater(pid);
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return { pid, began: stat.slice(stat.lastIndexOf(")")).split(" ")[20] ?? "" };
}

test("twenty children cost one reaper, and after kill -9 of their owner all of them are gone", async () => {
  const { pid, pids } = await startOwner(20, "/bin/cat");
  const reapers = reapersOf(pid);
  expect(reapers).toHaveLength(1);
  expect(residentBytes(reapers[0] as number)).toBeLessThan(128 * 1_048_576);
  process.kill(pid, "SIGKILL");
  await expect.poll(() => [...pids, ...reapers].filter(isRunning), gone).toEqual([]);
});

test("a reaper that is killed is replaced by one that knows of everybody", async () => {
  // They do not end with their input.
  const { pid, pids } = await startOwner(3, "/bin/sleep", "1000");
  const [first] = reapersOf(pid) as [number];
  process.kill(first, "SIGKILL");
  const others = () => reapersOf(pid).filter((one) => one !== first);
  await expect.poll(others, gone).toHaveLength(1);
  // It is seen before it was told of anybody; once it runs, it was.
  await expect.poll(() => isHandling(others()[0] as number, constants.signals.SIGHUP), gone).toBe(true);
  expect(pids.map(isRunning)).toEqual([true, true, true]);
  process.kill(pid, "SIGKILL");
  await expect.poll(() => pids.filter(isRunning), gone).toEqual([]);
});

test("it ends neither with a signal nor with a line it does not understand, only with its input", async () => {
  const { pid, began } = startSleeper();
  const child = startReaper(`nonsense\n+1 1\n+0 1\n+-5 1\n+${pid} ${began}\n`);
  // The last handler it sets, and none that Node has by itself.
  await expect.poll(() => isHandling(child.pid as number, constants.signals.SIGHUP), gone).toBe(true);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) child.kill(signal);
  expect(isRunning(pid)).toBe(true);
  child.stdin.end();
  const [code] = await once(child, "exit");
  expect(code).toBe(0);
  expect(isRunning(pid)).toBe(false);
});

test("what has ended is forgotten, and a number that is another's by now is left alone", async () => {
  const [released, reused, held] = [startSleeper(), startSleeper(), startSleeper()];
  const lines = [
    `+${released.pid} ${released.began}`,
    `+${reused.pid} ${BigInt(reused.began) - 1n}`,
    `+${held.pid} ${held.began}`,
    `-${released.pid}`,
  ];
  const child = startReaper(`${lines.join("\n")}\n`);
  child.stdin.end();
  await once(child, "exit");
  expect([released, reused, held].map(({ pid }) => isRunning(pid))).toEqual([true, true, false]);
});

/** Whether it has a handler for this signal. */
function isHandling(pid: number, signal: number): boolean {
  const caught = /SigCgt:\s+([0-9a-f]+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0";
  return (BigInt(`0x${caught}`) & (1n << BigInt(signal - 1))) !== 0n;
}
