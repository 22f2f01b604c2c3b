// Processes the benchmark starts, and their end: nothing of them is left, whatever they started themselves.
import { type ChildProcess, spawn } from "node:child_process";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { processTree } from "./process-tree.ts";

export interface Started {
  pid: number;
  /** Whether it has ended by itself. */
  hasEnded(): boolean;
  /** Resolves when it has. */
  ended: Promise<unknown>;
  /** What it wrote last on either stream, for messages about failures. */
  lastWords(): string;
  stop(): Promise<void>;
}

const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) killTree(child);
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

/** A file of this folder that reports its URL by a message when it listens. */
export async function startOwn(file: string, args: readonly string[]): Promise<Started & { url: string }> {
  const path = new URL(file, import.meta.url).pathname;
  const child = spawn(process.execPath, ["--conditions=mcpx-source", path, ...args], {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const started = watch(child);
  const url = await new Promise<string>((resolve, reject) => {
    child.once("message", (message) => resolve((message as { url: string }).url));
    child.once("exit", () => reject(new Error(`${file} ended: ${started.lastWords()}`)));
  });
  return { ...started, url };
}

/** A command of somebody else. */
export function startCommand(args: readonly string[], options: { cwd: string; home?: string }): Started {
  const { cwd, home } = options;
  const dirs = ["CONFIG", "DATA", "STATE", "CACHE"].map((name) => [`XDG_${name}_HOME`, home]);
  const env = home === undefined ? process.env : { ...process.env, HOME: home, ...Object.fromEntries(dirs) };
  return watch(spawn(process.execPath, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] }));
}

function watch(child: ChildProcess): Started {
  const { pid } = child;
  if (pid === undefined) throw new Error("a process could not be started");
  running.add(child);
  let words = "";
  const listen = (chunk: Buffer) => {
    words = (words + chunk.toString("utf8")).slice(-4_000);
  };
  child.stdout?.on("data", listen);
  child.stderr?.on("data", listen);
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  return { pid, hasEnded, ended, lastWords: () => words.trim(), stop: () => stop(child, hasEnded) };
}

async function stop(child: ChildProcess, hasEnded: () => boolean): Promise<void> {
  const tree = child.pid === undefined ? [] : processTree(child.pid);
  child.kill("SIGTERM");
  for (let tries = 0; !hasEnded() && tries < 60; tries += 1) await sleep(50);
  if (!hasEnded()) child.kill("SIGKILL");
  // Its children may outlive it; a pid is only killed while it is still the same command.
  for (const { pid, command } of tree.slice(1)) {
    if (processTree(pid)[0]?.command === command) process.kill(pid, "SIGKILL");
  }
  running.delete(child);
}

function killTree({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  for (const each of processTree(pid)) {
    try {
      process.kill(each.pid, "SIGKILL");
    } catch {
      // The process has just ended.
    }
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/** Asks again until something there answers HTTP, with whatever status. */
export async function untilListening(url: string, started: Started, ms = 30_000): Promise<void> {
  const until = performance.now() + ms;
  while (performance.now() < until) {
    if (started.hasEnded()) throw new Error(`it ended: ${started.lastWords()}`);
    try {
      await (await fetch(url)).arrayBuffer();
      return;
    } catch {
      await sleep(100);
    }
  }
  throw new Error(`nothing answers: ${started.lastWords()}`);
}
