// Starts the server as a child process with a data directory of its own.
import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GatewayOptions } from "@mcpx/gateway";
import { createIdentity, createLogger, openState, systemClock, type TokenClaims } from "@mcpx/host";
import type { Limits } from "@mcpx/protocol";

export interface ChildServer {
  readonly url: string;
  readonly pid: number;
  readonly exited: Promise<number | null>;
  token(claims: TokenClaims, ttlMs?: number): Promise<string>;
  /** Memory after a collection (`live`: what is really kept), and the worst delay of the event loop since the last question. */
  usage(): Promise<{ rssBytes: number; liveBytes: number; lagMs: number }>;
  kill(signal: NodeJS.Signals): void;
  /** Ends it and removes its data. */
  cleanUp(): Promise<void>;
}

export interface ChildServerOptions {
  limits?: Partial<Limits>;
  gateway?: Partial<GatewayOptions>;
}

export async function startChildServer(options: ChildServerOptions = {}): Promise<ChildServer> {
  const dataDir = mkdtempSync(join(tmpdir(), "mcpx-fault-"));
  const child = fork(
    new URL("./child-server-main.ts", import.meta.url),
    [JSON.stringify({ dataDir, ...options })],
    {
      execArgv: ["--conditions=mcpx-source", "--expose-gc"],
    },
  );
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const { url } = (await message(child)) as { url: string };
  const state = openState(join(dataDir, "state.db"));
  const identity = createIdentity({ db: state, clock: systemClock, log: createLogger({ level: "silent" }) });
  return {
    url,
    pid: child.pid as number,
    exited,
    token: async (claims, ttlMs = 3_600_000) => (await identity.tokens.mint(claims, { ttlMs })).token,
    usage: async () => {
      const answer = message(child);
      child.send("usage");
      return (await answer) as { rssBytes: number; liveBytes: number; lagMs: number };
    },
    kill: (signal) => child.kill(signal),
    async cleanUp() {
      child.kill("SIGKILL");
      await exited;
      identity.close();
      state.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

function message(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.once("message", resolve);
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
}
