// A chain of aggregators, each in a process of its own, registered with the one before it.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { processTree } from "../hop/process-tree.ts";

export interface Told {
  url: string;
  childToken: string;
  guestToken: string;
  clientToken: string;
}

export interface Child<T> {
  told: T;
  process: ChildProcess;
  pid: number;
}

const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** A file of this folder; resolves with its first message. */
export async function startChild<T>(file: string, args: readonly string[]): Promise<Child<T>> {
  const path = new URL(file, import.meta.url).pathname;
  const child = spawn(process.execPath, ["--conditions=mcpx-source", path, ...args], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  const told = await new Promise<T>((resolve, reject) => {
    child.once("message", (message) => resolve(message as T));
    child.once("exit", (code) => reject(new Error(`${file} ended with ${code}`)));
  });
  return { told, process: child, pid: child.pid as number };
}

export async function startChain(dir: string, depth: number, backend: string) {
  const chain: Child<Told>[] = [];
  for (let level = 1; level <= depth; level += 1) {
    const own = join(dir, `node-${level}`);
    mkdirSync(own);
    const above = chain.at(-1)?.told;
    const parent =
      above === undefined ? [] : ["--parent", above.url, "--segment", "below", "--token", above.childToken];
    chain.push(await startChild<Told>("./node.ts", [own, ...parent, "--backend", backend]));
  }
  return chain;
}

/** What they have used so far, all together, µs. */
export function cpuUsOf(chain: readonly Pick<Child<unknown>, "pid">[]): number {
  return chain.reduce((sum, { pid }) => sum + (processTree(pid)[0]?.cpuUs ?? 0), 0);
}

export function rssBytesOf({ pid }: Pick<Child<unknown>, "pid">): number {
  return processTree(pid)[0]?.rssBytes ?? 0;
}
