// `mcpx up` as a real process on a data directory of its own, with the servers of a test.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Config } from "@mcpx/cli";
import type { TokenClaims } from "@mcpx/host";
import { mintTokens } from "../../faults/support/tokens.ts";
import { mcpxCommand } from "../../support/programs.ts";

export interface Up {
  /** Of the tree's endpoint. */
  url: string;
  dataDir: string;
  config: string;
  pid: number;
  token(claims?: Partial<TokenClaims>): Promise<string>;
  /** SIGTERM; resolves when it is gone. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Data directory and configuration, with nothing running on them. */
export function makeHome(config: Pick<Config, "mcpServers" | "profiles" | "segment">) {
  const dataDir = mkdtempSync(join(tmpdir(), "mcpx-up-"));
  const path = join(dataDir, "mcpx.json");
  // Gates are tested elsewhere: here nothing waits for a human.
  const gates = { rules: [{ tools: "**", action: "allow" }] };
  writeFileSync(path, JSON.stringify({ gates, ...config }));
  return { dataDir, config: path, remove: () => rmSync(dataDir, { recursive: true, force: true }) };
}

export async function startUp(config: Pick<Config, "mcpServers" | "profiles" | "segment">): Promise<Up> {
  const home = makeHome(config);
  const [node, ...command] = mcpxCommand;
  const args = [
    ...command,
    "up",
    "--port",
    "0",
    "--json",
    "--no-demo",
    "--data",
    home.dataDir,
    "--config",
    home.config,
  ];
  const child = spawn(node, args, { stdio: ["ignore", "pipe", "inherit"], cwd: home.dataDir });
  const ended = once(child, "exit");
  const lines = createInterface({ input: child.stdout });
  const ready = await new Promise<{ url: string; pid: number }>((resolve, reject) => {
    lines.on("line", (line) => line.startsWith('{"url"') && resolve(JSON.parse(line)));
    ended.then(() => reject(new Error("mcpx up ended")));
  });
  return {
    url: `${ready.url}/mcp`,
    dataDir: home.dataDir,
    config: home.config,
    pid: ready.pid,
    async token(claims = {}) {
      const [token = ""] = await mintTokens(home.dataDir, [
        { sub: "alice", topics: [], tools: ["**"], ...claims },
      ]);
      return token;
    },
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      await ended;
      home.remove();
    },
  };
}
