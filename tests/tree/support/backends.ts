// The raw server as a configuration has it: a command, or the address of one that runs.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { FaultName } from "./faults.ts";

const script = join(import.meta.dirname, "backend.ts");

export interface BackendFlags {
  fault?: FaultName;
  era?: "legacy" | "modern";
  record?: string;
  startMs?: number;
}

export function stdioBackend(flags: BackendFlags = {}): { command: string; args: string[] } {
  return { command: process.execPath, args: [script, ...words(flags)] };
}

export interface HttpBackends {
  urlOf(fault: FaultName): string;
  stop(): Promise<void>;
}

export async function startHttpBackends(flags: Omit<BackendFlags, "fault"> = {}): Promise<HttpBackends> {
  const args = [script, "--transport", "http", ...words(flags)];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  const { url } = JSON.parse(line as string) as { url: string };
  return {
    urlOf: (fault) => `${url}/${fault}`,
    async stop() {
      child.kill();
      await ended;
    },
  };
}

function words(flags: BackendFlags): string[] {
  return Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
}
