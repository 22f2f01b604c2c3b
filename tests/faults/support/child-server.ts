// A server process with a data directory of its own and tokens for whoever a test needs.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TokenClaims } from "@mcpx/host";
import { onTestFinished } from "vitest";
import type { ServeOptions } from "./serve.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";
import { mintTokens } from "./tokens.ts";

export interface ChildServer extends ServerProcess {
  /** Tokens of full participants of one topic. */
  tokens(topic: string, ids: readonly string[]): Promise<string[]>;
}

export async function startChildServer(options: Omit<ServeOptions, "dataDir"> = {}): Promise<ChildServer> {
  const dataDir = mkdtempSync(join(tmpdir(), "mcpx-fault-"));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const server = await startServerProcess({ dataDir, ...options });
  const claim = (topic: string, sub: string): TokenClaims => ({ sub, topics: [topic], level: "full" });
  return {
    ...server,
    tokens: (topic, ids) =>
      mintTokens(
        dataDir,
        ids.map((id) => claim(topic, id)),
      ),
  };
}
