// Emulators as processes that end with ours, however ours ends.
import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import type { Readable, Writable } from "node:stream";

export type TiedProcess = ChildProcessByStdio<Writable, Readable, null>;

/** Its process is ended, and its directory removed, when our end of the pipe is: kill -9 included. */
const tie = `exec 3<&0
{ read -r _ <&3 || { kill -9 $$; rm -rf -- "$0"; }; } >/dev/null 2>&1 &
exec "$@" </dev/null 3<&-`;

/** In a group of its own: Ctrl-C in a terminal is for us. */
export function spawnTied(directory: string, command: readonly string[]): TiedProcess {
  const child = spawn("sh", ["-c", tie, directory, ...command], {
    stdio: ["pipe", "pipe", "ignore"],
    detached: true,
  });
  // It has ended before us, and its number may soon be another's: nobody is to be killed.
  child.once("exit", () => child.stdin.end("\n"));
  return child;
}

export const hasEnded = ({ pid, exitCode, signalCode }: ChildProcess): boolean =>
  pid === undefined || exitCode !== null || signalCode !== null;

export async function endProcess(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

/** Ends it and removes its directory. */
export async function endTied(child: ChildProcess, directory: string): Promise<void> {
  await endProcess(child);
  await rm(directory, { recursive: true, force: true });
}
