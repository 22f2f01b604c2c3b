// A server under measurement, in a process of its own, that tells its CPU time and memory when asked.
import { type ChildProcess, fork } from "node:child_process";

interface Usage {
  /** User and system time, µs. */
  cpuUs: number;
  rssBytes: number;
}

export interface ServerProcess {
  url: string;
  tokens: string[];
  usage(): Promise<Usage>;
  /** kill -9. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export async function startServerProcess(
  file: string,
  args: readonly (string | number)[],
  flags: readonly string[] = [],
): Promise<ServerProcess> {
  const child = fork(new URL(file, import.meta.url), args.map(String), {
    execArgv: ["--conditions=mcpx-source", "--expose-gc", ...flags],
    serialization: "json",
  });
  const { url, tokens } = (await message(child)) as { url: string; tokens: string[] };
  return {
    url,
    tokens,
    usage: async () => {
      const answer = message(child);
      child.send("usage");
      return (await answer) as Usage;
    },
    kill: () =>
      new Promise((resolve) => {
        child.once("exit", () => resolve());
        child.kill("SIGKILL");
      }),
    stop: () =>
      new Promise((resolve) => {
        child.once("exit", () => resolve());
        child.disconnect();
        setTimeout(() => child.kill("SIGKILL"), 2_000).unref();
      }),
  };
}

/** Called by the server's own process. */
export function reportCpuWhenAsked(): void {
  process.on("message", () => {
    globalThis.gc?.();
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuUs: user + system, rssBytes: process.memoryUsage.rss() } satisfies Usage);
  });
  process.on("disconnect", () => process.exit(0));
}

function message(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`the server ended with ${code}`));
    child.once("exit", ended);
    child.once("message", (answer) => {
      child.off("exit", ended);
      resolve(answer);
    });
  });
}
