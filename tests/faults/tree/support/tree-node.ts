// `mcpx up` in a process of its own, with a data directory and a port of its own that it comes back to.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { mcpxCommand } from "../../../support/programs.ts";
import type { Place } from "../../../tree/support/ask.ts";
import { mintTokens } from "../../support/tokens.ts";

export interface ParentLine {
  url: string;
  segment: string;
  token: string;
  heartbeat: string;
  backups?: readonly string[];
}

export interface TreeNode {
  readonly url: string;
  readonly dataDir: string;
  /** The tree's endpoint, for somebody who may use everything. */
  readonly place: Place;
  /** What it has logged so far, in all its lives. */
  readonly logged: readonly string[];
  /** For those who register here; each proves its segment. */
  tokensFor(segments: readonly string[]): Promise<string[]>;
  readonly isUp: boolean;
  /** SIGSTOP and SIGCONT. */
  freeze(): void;
  thaw(): void;
  /** kill -9; resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it again: same data, same port. */
  revive(): Promise<void>;
  /** Ends it for good, whatever state it is in. */
  remove(): Promise<void>;
}

/** `more` is the rest of its configuration, as an operator writes it. */
export async function startNode(parents: readonly ParentLine[] = [], more: object = {}): Promise<TreeNode> {
  const dataDir = mkdtempSync(join(tmpdir(), "mcpx-tree-fault-"));
  const config = join(dataDir, "mcpx.json");
  writeFileSync(config, JSON.stringify({ ...more, parents }));
  const [token = ""] = await mintTokens(dataDir, [{ sub: "alice", topics: [], tools: ["**"] }]);
  const logged: string[] = [];
  let child: ChildProcess;
  let port = "0";

  async function start(): Promise<string> {
    const options = ["--port", port, "--json", "--no-demo", "--data", dataDir, "--config", config];
    const [node, ...command] = mcpxCommand;
    child = spawn(node, [...command, "up", ...options], {
      stdio: ["ignore", "pipe", "pipe"],
      cwd: dataDir,
    });
    const end = () => void child.kill("SIGKILL");
    process.once("exit", end);
    child.once("exit", () => process.off("exit", end));
    createInterface({ input: child.stderr as NodeJS.ReadableStream }).on("line", (line) => logged.push(line));
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    lines.on("line", (line) => line.startsWith('{"url"') && resolve(JSON.parse(line).url));
    child.once("exit", () => reject(new Error(`mcpx up ended:\n${logged.slice(-20).join("\n")}`)));
    return promise;
  }

  const url = await start();
  port = new URL(url).port;
  const isUp = () => child.exitCode === null && child.signalCode === null;
  async function kill(): Promise<void> {
    if (!isUp()) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }
  return {
    url,
    dataDir,
    place: { url: `${url}/mcp`, token },
    logged,
    tokensFor: (segments) =>
      mintTokens(
        dataDir,
        segments.map((segment) => ({ sub: `of:${segment}`, topics: [], segment, scope: "write" })),
      ),
    get isUp() {
      return isUp();
    },
    freeze: () => void child.kill("SIGSTOP"),
    thaw: () => void child.kill("SIGCONT"),
    kill,
    async revive() {
      await start();
    },
    async remove() {
      await kill();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
