// The examples of the adapters, with their frameworks as npm has them and a scripted model: people decide while neither
// the agent nor the gateway runs. Frameworks are installed into a folder of their own, by `npm run soak -- tests/clients`.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Desk, openDesk } from "./adapters/desk.ts";
import { installClients } from "./support/installed.ts";
import { type ModelServer, startModel } from "./support/model-server.ts";

const root = join(import.meta.dirname, "..", "..");
const examples = join(root, "examples", "adapters");
let desk: Desk;
let programs = "";

beforeAll(async () => {
  const { dependencies } = JSON.parse(readFileSync(join(examples, "package.json"), "utf8"));
  const { "@mcpx/client": _, ...frameworks } = dependencies as Record<string, string>;
  const dir = installClients(Object.entries(frameworks).map(([name, range]) => `${name}@${range}`));
  programs = join(dir, "adapters");
  rmSync(programs, { recursive: true, force: true });
  cpSync(examples, programs, { recursive: true });
  const ours = join(dir, "node_modules", "@mcpx");
  mkdirSync(ours, { recursive: true });
  if (!existsSync(join(ours, "client"))) symlinkSync(join(root, "packages", "client"), join(ours, "client"));
  desk = await openDesk({ timeout: 3_600_000 });
}, 900_000);

afterAll(() => desk?.server.stop());

interface Agent {
  readonly id: string;
  readonly model: ModelServer;
  /** The file its agent is told to delete. */
  readonly victim: string;
  /** One start of the program, to its end. */
  run(): Promise<string>;
  start(): { kill(): Promise<void> };
}

async function agentOf(example: string, plan: ModelServer["plan"]): Promise<Agent> {
  const home = mkdtempSync(join(tmpdir(), "mcpx-adapter-"));
  const model = await startModel();
  onTestFinished(async () => {
    await model.close();
    rmSync(home, { recursive: true, force: true });
  });
  model.plan = plan;
  const id = `${example}-${Math.random().toString(36).slice(2)}`;
  const victim = join(home, "old.txt");
  writeFileSync(victim, "old");
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    MCPX_URL: desk.server.url,
    MCPX_TOKEN: await desk.server.token(
      { sub: id, topics: [], tools: ["mcpax.ask", "mcpax.wait"] },
      3_600_000,
    ),
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "none",
    OPENAI_BASE_URL: `${model.url}/v1`,
    OPENAI_API_KEY: "none",
    OPENAI_AGENTS_DISABLE_TRACING: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    MASTRA_TELEMETRY_DISABLED: "1",
  };
  const begin = () =>
    spawn(process.execPath, ["--conditions=mcpx-source", join(programs, `${example}.ts`)], {
      cwd: home,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
  return {
    id,
    model,
    victim,
    async run() {
      const child = begin();
      let said = "";
      for (const stream of [child.stdout, child.stderr]) {
        stream.on("data", (part: Buffer) => {
          said += part;
        });
      }
      await once(child, "close");
      return said;
    },
    start() {
      const child = begin();
      for (const stream of [child.stdout, child.stderr]) stream.resume();
      const ended = once(child, "close");
      return {
        async kill() {
          child.kill("SIGKILL");
          await ended;
        },
      };
    },
  };
}

test("[B-CLIENT-3] the adapters fit the types of their frameworks", { timeout: 300_000 }, async () => {
  const compilerOptions = {
    incremental: false,
    tsBuildInfoFile: null,
    typeRoots: [join(root, "node_modules", "@types")],
  };
  const settings = { extends: join(root, "tsconfig.json"), compilerOptions, include: ["*.ts"], exclude: [] };
  writeFileSync(join(programs, "tsconfig.json"), JSON.stringify(settings));
  const checked = spawnSync(join(root, "node_modules", ".bin", "tsc"), ["-p", programs], {
    encoding: "utf8",
  });
  expect(checked.stdout).toBe("");
  expect(checked.status).toBe(0);
});

const deleting = { tool: "delete_file", args: { path: "old.txt" } };
const slow = { timeout: 180_000 };

test.for(["langgraph", "ai-sdk", "openai-agents", "mastra"])(
  "[B-CLIENT-3] %s: approved while neither agent nor gateway ran, the agent goes on where it was",
  slow,
  async (example) => {
    const agent = await agentOf(example, deleting);
    expect(await agent.run()).toContain("waiting for a human");
    expect(await agent.run()).toContain("waiting for a human");
    expect(await desk.asked(agent.id)).toMatchObject([
      { tool: "delete_file", arguments: { path: "old.txt" } },
    ]);
    await desk.server.restart();
    await desk.decide("approve", agent.id);
    expect(existsSync(agent.victim)).toBe(true);
    await desk.server.restart();
    expect(await agent.run()).toContain("done");
    expect(existsSync(agent.victim)).toBe(false);
    expect(agent.model.told?.text).toContain("old.txt is deleted");
    expect(await desk.asked(agent.id)).toEqual([]);
  },
);

test.for(["langgraph", "ai-sdk", "openai-agents", "mastra"])(
  "[B-CLIENT-3] %s: rejected, its model is told why, and nothing has happened",
  slow,
  async (example) => {
    const agent = await agentOf(example, deleting);
    expect(await agent.run()).toContain("waiting for a human");
    await desk.decide("reject", agent.id);
    expect(await agent.run()).toContain("done");
    expect(existsSync(agent.victim)).toBe(true);
    expect(agent.model.told?.text).toContain("not on a Friday");
  },
);

test(
  "[B-CLIENT-3] claude-agent: killed while it waited, it hears the approval when it asks again",
  slow,
  async () => {
    const agent = await agentOf("claude-agent", { tool: "Bash", args: { command: "rm old.txt" } });
    const first = agent.start();
    await expect.poll(() => desk.asked(agent.id), { timeout: 60_000 }).toHaveLength(1);
    await first.kill();
    await desk.server.restart();
    expect(await desk.decide("approve", agent.id)).toMatchObject({
      tool: "Bash",
      arguments: { command: "rm old.txt" },
    });
    expect(existsSync(agent.victim)).toBe(true);
    expect(await agent.run()).toContain("done");
    expect(existsSync(agent.victim)).toBe(false);
  },
);

test(
  "[B-CLIENT-3] claude-agent: rejected, its model is told why, and nothing has happened",
  slow,
  async () => {
    const agent = await agentOf("claude-agent", { tool: "Bash", args: { command: "rm old.txt" } });
    const [said] = await Promise.all([agent.run(), desk.decide("reject", agent.id)]);
    expect(said).toContain("done");
    expect(existsSync(agent.victim)).toBe(true);
    expect(agent.model.told?.text).toContain("not on a Friday");
  },
);
