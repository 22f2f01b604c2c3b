// A server's process: without a shell, with an environment of its own, in a process group of its own, held by the
// reaper so that it never outlives us.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { McpxError } from "@mcpx/protocol";
import { hold, readyReaper, release } from "./lifeline.ts";
import { endGroup, type Group, graceMs, groupOf, signalGroup } from "./process-group.ts";
import { type Launcher, startAsUser } from "./start-as-user.ts";

export interface ServerCommand {
  command: string;
  args: readonly string[];
  /** With `as` it may be empty: that user's home. */
  cwd: string;
  /** The whole environment: nothing of mcpx's own is added. */
  env: Readonly<Record<string, string | undefined>>;
  /** The launcher that starts it as another user. */
  as?: Launcher | undefined;
}

export interface ServerProcess {
  pid: number;
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
  /** Resolves with how it ended, when nobody is left of it: `exit code 1`, `SIGSEGV`. */
  ended: Promise<string>;
  /** Asks it to end as MCP does, by closing its input; then makes it. */
  end(): Promise<void>;
}

/** How long output may still come from a process that has ended. */
const drainMs = 500;
const lookMs = 100;

/** Rejects with `server_unreachable` where it cannot be started. */
export async function startProcess(wish: ServerCommand): Promise<ServerProcess> {
  if (wish.as !== undefined) return await startAsUser(wish.as, wish);
  const child = spawnServer(wish);
  if (child.pid === undefined) throw await notStarted(child, wish);
  // In the same tick: from here on it cannot outlive us.
  const group = groupOf(child.pid);
  hold(group);
  const stdin = child.stdin as Writable;
  // Writing to a process that has just ended is no fault here; its end is told by `ended`.
  stdin.on("error", () => {});
  const exited = Promise.withResolvers<string>();
  child.on("error", () => {});
  child.on("exit", (code, signal) => exited.resolve(signal ?? `exit code ${code}`));
  let ending: Promise<void> | undefined;
  const endAll = () => {
    ending ??= endHeld(group);
    return ending;
  };
  const ended = exited.promise.then(async (why) => {
    await endAll();
    await drainedOutput(child);
    return why;
  });
  return {
    pid: child.pid,
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
      await endAll();
      // What not even that has ended is waited for no longer.
      exited.resolve("killed");
      await ended;
    },
  };
}

function spawnServer({ command, args, cwd, env }: ServerCommand): ChildProcess {
  try {
    readyReaper();
    return spawn(command, args, {
      cwd,
      env: { ...env },
      stdio: ["pipe", "pipe", "pipe"],
      // Ctrl-C is for us: how the server is told is our decision.
      detached: true,
    });
  } catch (error) {
    // A null byte in an argument, for example.
    const { code, message } = error as NodeJS.ErrnoException;
    throw startFault(command, code ?? message);
  }
}

async function notStarted(child: ChildProcess, { command, cwd }: ServerCommand): Promise<McpxError> {
  const [error] = (await once(child, "error")) as [NodeJS.ErrnoException];
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  // The kernel reports a missing command and a missing directory alike.
  const isLost = error.code === "ENOENT" && !isDirectory(cwd);
  return startFault(command, isLost ? "its directory is not there" : (error.code ?? ""));
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

async function endHeld(group: Group): Promise<void> {
  if (await endGroup(group)) release(group);
  else void releaseLater(group);
}

/** Who has ended counts until somebody has taken notice, which may take the system a while. */
async function releaseLater(group: Group): Promise<void> {
  while (signalGroup(group, 0)) await wait(lookMs, undefined, { ref: false });
  release(group);
}

/** Reads what the child still writes, for a moment, then closes the pipes even where a grandchild keeps them open. */
async function drainedOutput(child: ChildProcess): Promise<void> {
  const stop = new AbortController();
  const { signal } = stop;
  const outputs = [child.stdout, child.stderr].filter((stream) => stream !== null);
  const closed = Promise.all(outputs.map((stream) => stream.closed || once(stream, "close", { signal })));
  await Promise.race([closed, wait(drainMs, undefined, { signal })]).catch(() => {});
  stop.abort();
  closed.catch(() => {});
  for (const stream of [child.stdin, ...outputs]) stream?.destroy();
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
