// Starts a server as a process, and ends it: as it should end, or not.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import type { ServeOptions } from "./serve.ts";

export interface ServerProcess {
  readonly url: string;
  /** From the start of the process to the first `/readyz` that says so. */
  readonly readyMs: number;
  /** What it has logged so far, one JSON object a line. */
  readonly logged: string[];
  /** Its processors stand still: it says nothing more, whatever the kernel answers it. */
  freeze(): void;
  /** kill -9. Resolves once it is gone. */
  kill(): Promise<void>;
  /** SIGTERM. Resolves with its exit code. */
  stop(): Promise<number | null>;
}

/** `under` is a command that runs the server, such as a tracer with its options. */
export async function startServerProcess(
  options: ServeOptions,
  under: readonly string[] = [],
): Promise<ServerProcess> {
  const began = performance.now();
  const serve = join(import.meta.dirname, "serve.ts");
  const command = [...under, process.execPath, "--conditions=mcpx-source", serve, JSON.stringify(options)];
  const child = spawn(command[0] as string, command.slice(1), { stdio: "pipe" });
  const ended = once(child, "exit");
  const logged: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => logged.push(line));
  // Until its own number is known, ending what was started has to do.
  let pid = child.pid as number;
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) process.kill(pid, signal);
    const [code] = await ended;
    return code;
  };
  onTestFinished(async () => {
    // Also ends a server whose tracer is gone already.
    child.stdin.destroy();
    await end("SIGKILL");
  });
  const address = await firstLine(child, logged);
  pid = address.pid;
  const { status } = await fetch(`${address.url}/readyz`);
  if (status !== 200) throw new Error(`/readyz says ${status}`);
  const readyMs = performance.now() - began;
  return {
    url: address.url,
    readyMs,
    logged,
    freeze: () => process.kill(pid, "SIGSTOP"),
    kill: async () => void (await end("SIGKILL")),
    stop: () => end("SIGTERM"),
  };
}

async function firstLine(child: ChildProcess, logged: string[]): Promise<{ url: string; pid: number }> {
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    return JSON.parse(line);
  }
  throw new Error(`the server did not start:\n${logged.join("\n")}`);
}
