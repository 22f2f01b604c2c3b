// Starts a server as a process, and ends it: as it should end, or not.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { programArgs } from "../../support/programs.ts";
import type { ServeOptions } from "./serve.ts";

export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** From the start of the process to the first `/readyz` that says so. */
  readonly readyMs: number;
  /** Processor time until it listened: what it took, however busy the machine is with other things. */
  readonly cpuMs: number;
  /** What it has logged so far, one JSON object a line. */
  readonly logged: string[];
  /** Resolves with its exit code. */
  readonly ended: Promise<number | null>;
  /** What it really keeps in memory, after a collection. */
  liveBytes(): Promise<number>;
  /** Its processors stand still: it says nothing more, whatever the kernel answers it. */
  freeze(): void;
  /** kill -9. Resolves once it is gone. */
  kill(): Promise<void>;
  /** SIGTERM. Resolves with its exit code. */
  stop(): Promise<number | null>;
}

interface Address {
  url: string;
  pid: number;
  cpuMs: number;
}

/** `under` is a command that runs the server, such as a tracer with its options. */
export async function startServerProcess(
  options: ServeOptions,
  under: readonly string[] = [],
): Promise<ServerProcess> {
  const began = performance.now();
  const command = [
    ...under,
    process.execPath,
    "--expose-gc",
    ...programArgs("tests/faults/support/serve.ts"),
    JSON.stringify(options),
  ];
  const child = spawn(command[0] as string, command.slice(1), { stdio: "pipe" });
  const ended = once(child, "exit").then(([code]) => code as number | null);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const logged: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => logged.push(line));
  // Until its own number is known, ending what was started has to do.
  let pid = child.pid as number;
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) process.kill(pid, signal);
    return ended;
  };
  onTestFinished(async () => {
    // Also ends a server whose tracer is gone already.
    child.stdin.destroy();
    await end("SIGKILL");
  });
  const address = (await nextLine(lines, logged)) as Address;
  pid = address.pid;
  const { status } = await fetch(`${address.url}/readyz`);
  if (status !== 200) throw new Error(`/readyz says ${status}`);
  const readyMs = performance.now() - began;
  return {
    url: address.url,
    pid,
    ended,
    liveBytes: async () => {
      child.stdin.write("\n");
      return ((await nextLine(lines, logged)) as { liveBytes: number }).liveBytes;
    },
    cpuMs: address.cpuMs,
    readyMs,
    logged,
    freeze: () => process.kill(pid, "SIGSTOP"),
    kill: async () => void (await end("SIGKILL")),
    stop: () => end("SIGTERM"),
  };
}

async function nextLine(lines: AsyncIterator<string>, logged: readonly string[]): Promise<unknown> {
  const line = await lines.next();
  if (line.done) throw new Error(`the server ended:\n${logged.join("\n")}`);
  return JSON.parse(line.value);
}
