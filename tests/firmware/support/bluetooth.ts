// Bluetooth controllers that are emulated by BlueZ's btvirt, each on a serial port (a pseudo terminal) as adapters with a
// UART are; they are in reach of each other. No driver of the kernel is needed.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
const here = import.meta.dirname;

export interface Controllers extends AsyncDisposable {
  /** The path of another controller's port. */
  add(): Promise<string>;
}

export async function startControllers(): Promise<Controllers> {
  const directory = await mkdtemp(join(tmpdir(), "mcpx-bluetooth-"));
  const preload = join(directory, "preload.so");
  const flags = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror"];
  await run("gcc", [...flags, "-o", preload, join(here, "without-af-alg.c")]);
  const emulator = startEmulator(directory);
  const children = [emulator];
  const socket = join(directory, "bt-server-le");
  while (!existsSync(socket)) {
    if (emulator.exitCode !== null) throw new Error("btvirt has ended");
    await pause(10);
  }
  return {
    add: async () => {
      const bridge = spawn("python3", [join(here, "pty-bridge.py"), socket]);
      children.push(bridge);
      const [port] = (await once(createInterface(bridge.stdout), "line")) as [string];
      return port;
    },
    [Symbol.asyncDispose]: async () => {
      for (const child of children.reverse()) await end(child);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Its sockets have fixed names below /tmp, so it sees a directory of ours there. */
function startEmulator(directory: string): ChildProcess {
  const mine = process.getuid?.() === 0 ? "--mount" : "--map-root-user";
  const script = 'mount --bind "$1" /tmp && LD_PRELOAD=/tmp/preload.so exec btvirt -s';
  return spawn("unshare", [mine, "--mount", "sh", "-c", script, "sh", directory], { stdio: "ignore" });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}
