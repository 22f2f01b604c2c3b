// `mcpx up` with a shredder behind gates, a human with a key, and agents without one.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "@mcpx/cli";
import { mcpx, scratch, up } from "../../cli/support/mcpx-process.ts";
import { mintTokens } from "../../faults/support/tokens.ts";
import { programArgs } from "../../support/programs.ts";
import { connectSdk, type Kind, type SdkCaller } from "../../tree/support/sdk-callers.ts";

const shredder = programArgs("tests/gates/support/shredder.ts");

/** As a configuration is written: durations are texts. */
type GateConfig = Omit<NonNullable<Config["gates"]>, "timeout" | "hold"> & {
  timeout?: string;
  hold?: string | 0;
};

interface PendingGate {
  id: string;
  tool: string;
  principal: string;
  arguments: unknown;
}

export interface Gated {
  readonly dataDir: string;
  /** Of the gateway that runs. */
  url(): string;
  pid(): number;
  /** One command line to its end, on this data directory. */
  run(...args: string[]): ReturnType<typeof mcpx>;
  /** What has happened, line by line. */
  traces(): string[];
  pending(): Promise<PendingGate[]>;
  token(id: string): Promise<string>;
  agent(id: string, kind?: Kind): Promise<SdkCaller>;
  start(): Promise<void>;
  end(signal: NodeJS.Signals): Promise<void>;
}

/** Without a gateway yet. */
export function gatedHome(gates: GateConfig = {}): Gated {
  const dataDir = scratch();
  const file = join(dataDir, "traces");
  const papers = { command: process.execPath, args: [...shredder, file], trusted: true };
  const config = { mcpServers: { papers }, gates: { hold: 0, ...gates } };
  writeFileSync(join(dataDir, "mcpx.json"), JSON.stringify(config));
  let gateway: Awaited<ReturnType<typeof up>> | undefined;
  const run = (...args: string[]) => mcpx([...args, "--data", dataDir], { cwd: dataDir });
  const url = () => gateway?.url ?? "";
  const token = async (id: string) =>
    (await mintTokens(dataDir, [{ sub: id, topics: [], tools: ["**"] }]))[0] ?? "";
  return {
    dataDir,
    url,
    pid: () => gateway?.pid ?? 0,
    run,
    token,
    traces: () => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []),
    pending: async () => JSON.parse((await run("pending", "--json", "--limit", "100")).out),
    agent: async (id, kind = "v1") => connectSdk(kind, { url: `${url()}/mcp`, token: await token(id) }),
    async start() {
      gateway = await up(dataDir, [], { cwd: dataDir });
    },
    async end(signal) {
      gateway?.kill(signal);
      await gateway?.ended;
    },
  };
}

/** With a gateway, and a plain key of alice that approves. */
export async function startGated(gates: GateConfig = {}): Promise<Gated> {
  const home = gatedHome(gates);
  await home.start();
  // A test is a program: it says so, as everybody must who wants one to sign.
  await home.run("key", "new", "--unsealed");
  await home.run("key", "enroll", "alice", "--unsealed");
  return home;
}
