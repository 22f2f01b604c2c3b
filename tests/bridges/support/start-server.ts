// A server of Debian's in a directory of its own: started, waited for, and gone with the test, however that ends.
import { type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface ChatPorts {
  readonly port: number;
  /** For components (XEP-0114). */
  readonly componentPort: number;
}

export interface ChatServer extends ChatPorts {
  stop(): Promise<void>;
}

export interface ServerCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** What it prints once it serves. */
  readonly isUp: string;
}

/** `prepare` writes what the server needs into its directory in `place`, and says how it is started. */
export async function startServer<Ports extends object>(
  name: string,
  ports: Ports,
  prepare: (dir: string) => ServerCommand,
  place = tmpdir(),
): Promise<Ports & { stop(): Promise<void> }> {
  const dir = mkdtempSync(join(place, `mcpx-${name}-`));
  const { program, args, env = process.env, isUp } = prepare(dir);
  const stdio: SpawnOptions["stdio"] = ["ignore", "pipe", "inherit"];
  const child = spawn(program, args, { stdio, env });
  const ended = once(child, "exit");
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  await new Promise<void>((resolve, reject) => {
    lines.on("line", (line) => line.includes(isUp) && resolve());
    child.once("exit", (code) => reject(new Error(`${name} ended with ${code}`)));
  });
  return {
    ...ports,
    async stop() {
      process.off("exit", kill);
      kill();
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
