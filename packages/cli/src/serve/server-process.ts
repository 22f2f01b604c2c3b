// A server's process, started through the reaper so that it never outlives us.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Duplex, Readable, Writable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isObject } from "@mcpx/protocol";
import { Failure } from "../failure.ts";
import { readLines } from "./read-lines.ts";

export interface ServerCommand {
  command: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
}

export interface ServerProcess {
  pid: number;
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
  /** Resolves with how it ended: `exit code 1`, `SIGSEGV`. */
  ended: Promise<string>;
  /** Asks it to end as MCP does, by closing its input; then makes it. */
  end(): Promise<void>;
}

/** Between asking and making, each time. */
const graceMs = 2_000;
/** How long output may still come from a process that has ended. */
const lastWordsMs = 500;

export async function startServerProcess(wish: ServerCommand): Promise<ServerProcess> {
  const { command, args, cwd, env } = wish;
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const reaper = fileURLToPath(new URL(`./reaper.${extension}`, import.meta.url));
  const child = spawn(process.execPath, [reaper, String(graceMs), command, ...args], {
    cwd,
    env: { ...env },
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    // Ctrl-C is for us: how the server is told is our decision.
    detached: true,
  });
  const lifeline = child.stdio[3] as unknown as Duplex;
  const { started, ended } = listen(child, lifeline, command);
  const pid = await started;
  const stdin = child.stdin as Writable;
  // Writing to what has just ended is no fault of ours; its end is told by `ended`.
  stdin.on("error", () => {});
  return {
    pid,
    stdin,
    stdout: child.stdout as Readable,
    stderr: child.stderr as Readable,
    ended,
    async end() {
      stdin.end();
      await Promise.race([ended, wait(graceMs, undefined, { ref: false })]);
      lifeline.destroy();
      await ended;
    },
  };
}

function listen(
  child: ChildProcess,
  lifeline: Duplex,
  command: string,
): { started: Promise<number>; ended: Promise<string> } {
  const started = Promise.withResolvers<number>();
  let pid: number | undefined;
  let end: string | undefined;
  lifeline.on("error", () => {});
  readLines(lifeline, 1_024, (line) => {
    const news: unknown = JSON.parse(line);
    if (!isObject(news)) return;
    if (typeof news.pid === "number") {
      pid = news.pid;
      started.resolve(pid);
    } else if (news.fault !== undefined) started.reject(startFailure(command, String(news.fault)));
    else end = news.signal === null ? `exit code ${news.code}` : String(news.signal);
  });
  child.on("error", (error: NodeJS.ErrnoException) =>
    started.reject(startFailure(command, error.code ?? "")),
  );
  const exited = once(child, "exit").then(() => {
    started.reject(startFailure(command, "its reaper ended"));
    // Killed itself, the reaper has left the group to us.
    if (end === undefined && pid !== undefined) killGroup(pid);
    return end ?? "killed";
  });
  const closed = once(child, "close");
  const ended = exited.then(async (why) => {
    await Promise.race([closed, wait(lastWordsMs)]);
    return why;
  });
  ended.catch(() => {});
  started.promise.catch(() => {});
  return { started: started.promise, ended };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Nobody is left.
  }
}

function startFailure(command: string, code: string): Failure {
  const isMissing = code === "ENOENT";
  const fix = isMissing ? "check the spelling, and that it is installed" : "check that it may be run";
  return new Failure(`${command} cannot be started (${isMissing ? "not found" : code})`, fix);
}
