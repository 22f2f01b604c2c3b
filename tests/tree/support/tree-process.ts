// Starts a server with a tree as a process, looks at its memory, and stops it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { mintTokens } from "../../faults/support/tokens.ts";
import { programArgs } from "../../support/programs.ts";
import type { ServeTreeOptions } from "./serve-tree.ts";

export interface TreeProcess {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  /** What it has logged so far. */
  readonly logged: string[];
  /** What it really keeps in memory, after a collection. */
  liveBytes(): Promise<number>;
  /** Resident at most since the last time this was called. */
  peakBytes(): number;
  residentBytes(): number;
  stop(): Promise<void>;
}

/** The token may use everything. */
export async function startTreeProcess(config: ServeTreeOptions["config"]): Promise<TreeProcess> {
  const dataDir = mkdtempSync(join(tmpdir(), "mcpx-tree-"));
  const [token = ""] = await mintTokens(dataDir, [{ sub: "alice", topics: [], tools: ["**"] }]);
  const options: ServeTreeOptions = { dataDir, config };
  const args = ["--expose-gc", ...programArgs("tests/tree/support/serve-tree.ts")];
  const child = spawn(process.execPath, [...args, JSON.stringify(options)], { stdio: "pipe" });
  const ended = once(child, "exit");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const logged: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => logged.push(line));
  const next = async () => {
    const line = await lines.next();
    if (line.done) throw new Error(`the server ended:\n${logged.slice(-20).join("\n")}`);
    return JSON.parse(line.value);
  };
  const { url, pid } = await next();
  return {
    url: `${url}/mcp`,
    token,
    pid,
    logged,
    async liveBytes() {
      child.stdin.write("\n");
      return (await next()).liveBytes;
    },
    peakBytes() {
      const peak = statusBytes(pid, "VmHWM");
      writeFileSync(`/proc/${pid}/clear_refs`, "5");
      return peak;
    },
    residentBytes: () => statusBytes(pid, "VmRSS"),
    async stop() {
      child.stdin.end();
      await ended;
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

function statusBytes(pid: number, name: string): number {
  const line = new RegExp(`${name}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(line?.[1]) * 1024;
}
