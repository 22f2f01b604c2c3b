// A whole mcpx on a free port, for as long as an example runs. Alone it would be `mcpx up`, with tokens by `mcpx token`.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Config, startGateway, treeSettings } from "@mcpx/cli";
import {
  createIdentity,
  createLogger,
  createSqliteIdentityStore,
  openState,
  systemClock,
  type TokenClaims,
} from "@mcpx/host";
import { defaultLimits } from "@mcpx/protocol";

export interface ExampleTree extends AsyncDisposable {
  readonly url: string;
  /** As `mcpx token` makes them. */
  token(claims: Omit<TokenClaims, "topics">): Promise<string>;
  /** What this command line prints, run by an administrator on this machine; rejects where it fails. */
  run(...args: string[]): Promise<string>;
  /** What `mcpx tree` prints. */
  picture(): Promise<string>;
}

const main = fileURLToPath(new URL("../../../packages/cli/src/main.ts", import.meta.url));

export async function startTree(config: Config = {}): Promise<ExampleTree> {
  const dataDir = mkdtempSync(join(tmpdir(), "mcpx-topology-"));
  const log = createLogger({ level: "warn" });
  const server = await startGateway({
    dataDir,
    listen: { host: "127.0.0.1", port: 0 },
    gateway: {},
    issuers: [],
    limits: defaultLimits,
    log,
    // Nobody is there to approve what cannot be undone.
    tree: treeSettings(
      { gates: { rules: [{ tools: "**", action: "allow" }] }, ...config },
      { dir: dataDir, env: {} },
    ),
  });
  const state = openState(join(dataDir, "state.db"));
  const identity = await createIdentity({ store: createSqliteIdentityStore(state), clock: systemClock, log });
  const token: ExampleTree["token"] = async (claims) =>
    (await identity.tokens.mint({ topics: [], ...claims }, { ttlMs: 600_000 })).token;
  return {
    url: server.url,
    token,
    async run(...args) {
      const env = {
        ...process.env,
        MCPX_TOKEN: await token({ sub: "operator", tools: ["**"], admin: true }),
      };
      const words = ["--conditions=mcpx-source", main, ...args, "--data", dataDir];
      return (await promisify(execFile)(process.execPath, words, { env })).stdout;
    },
    async picture() {
      const env = { ...process.env, MCPX_TOKEN: await token({ sub: "viewer", tools: ["**"] }) };
      const args = ["--conditions=mcpx-source", main, "tree", "--url", server.url];
      return (await promisify(execFile)(process.execPath, args, { env })).stdout;
    },
    async [Symbol.asyncDispose]() {
      identity.close();
      state.close();
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** A whole mcpx that registers with another one, under a segment. */
export async function startBelow(above: ExampleTree, segment: string): Promise<ExampleTree> {
  const token = await above.token({ sub: segment, segment, scope: "write" });
  return startTree({ parents: [{ url: above.url, segment, token }] });
}
