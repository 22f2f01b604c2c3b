// A server's process, started through the reaper so that it never outlives us. Without a shell, with an environment
// of its own, in a process group of its own.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Duplex, Readable, Writable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isObject, McpxError } from "@mcpx/protocol";
import { LineReader } from "./line-reader.ts";

export interface ServerCommand {
  command: string;
  args: readonly string[];
  cwd: string;
  /** All of it: nothing of ours is added. */
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

/** Rejects with `server_unreachable` where it cannot be started. */
export async function startProcess(wish: ServerCommand): Promise<ServerProcess> {
  const { command, args, cwd, env } = wish;
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const reaper = fileURLToPath(new URL(`./reaper.${extension}`, import.meta.url));
  const child = spawnReaper([reaper, String(graceMs), command, ...args], cwd, env, command);
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
      const stop = new AbortController();
      const { signal } = stop;
      await Promise.race([ended, wait(graceMs, undefined, { ref: false, signal }).catch(() => {})]);
      stop.abort();
      lifeline.destroy();
      await ended;
    },
  };
}

function spawnReaper(
  args: readonly string[],
  cwd: string,
  env: ServerCommand["env"],
  command: string,
): ChildProcess {
  try {
    return spawn(process.execPath, args, {
      cwd,
      env: { ...env },
      stdio: ["pipe", "pipe", "pipe", "pipe"],
      // Ctrl-C is for us: how the server is told is our decision.
      detached: true,
    });
  } catch (error) {
    // A null byte in an argument, for example.
    throw startFault(command, (error as NodeJS.ErrnoException).code ?? "");
  }
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
  const news = new LineReader(1_024, {
    line(text) {
      const value: unknown = JSON.parse(text);
      if (!isObject(value)) return;
      if (typeof value.pid === "number") {
        pid = value.pid;
        started.resolve(pid);
      } else if (value.fault !== undefined) started.reject(startFault(command, String(value.fault)));
      else end = value.signal === null ? `exit code ${value.code}` : String(value.signal);
    },
  });
  lifeline.on("data", (chunk: Buffer) => news.push(chunk));
  const exited = Promise.withResolvers<string>();
  child.on("error", (error: NodeJS.ErrnoException) => {
    // Node itself is there, so what is missing is the directory.
    const fault = error.code === "ENOENT" ? "its directory is not there" : (error.code ?? "");
    started.reject(startFault(command, fault));
    // There is no process, so there will be no exit.
    if (child.pid === undefined) exited.resolve("not started");
  });
  child.on("exit", () => {
    started.reject(startFault(command, "its reaper ended"));
    // Killed itself, the reaper has left the group to us.
    if (end === undefined && pid !== undefined) killGroup(pid);
    exited.resolve(end ?? "killed");
  });
  const ended = exited.promise.then((why) => lastWords(child, lifeline).then(() => why));
  started.promise.catch(() => {});
  return { started: started.promise, ended };
}

/** What still comes is read; then nothing of it is left here, whoever holds the other ends. */
async function lastWords(child: ChildProcess, lifeline: Duplex): Promise<void> {
  const stop = new AbortController();
  const { signal } = stop;
  const outputs = [child.stdout, child.stderr].filter((stream) => stream !== null);
  const closed = Promise.all(outputs.map((stream) => stream.closed || once(stream, "close", { signal })));
  await Promise.race([closed, wait(lastWordsMs, undefined, { signal })]).catch(() => {});
  stop.abort();
  closed.catch(() => {});
  for (const stream of [child.stdin, ...outputs, lifeline]) stream?.destroy();
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Nobody is left.
  }
}

function startFault(command: string, code: string): McpxError {
  const isMissing = code === "ENOENT";
  return new McpxError(
    "server_unreachable",
    `${command} cannot be started (${isMissing ? "not found" : code})`,
    {
      suggestion: isMissing ? "check the spelling, and that it is installed" : "check that it may be run",
    },
  );
}
