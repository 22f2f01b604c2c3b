// Assistants at the command line, each with a scripted model: one run of the program for each call.
import { type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Driver, Session } from "../support/driver.ts";
import { type ModelServer, startModel } from "../support/model-server.ts";

export const assistantPackages = [
  "@anthropic-ai/claude-code",
  "@openai/codex",
  "@google/gemini-cli",
  "opencode-ai",
] as const;

export function assistants(dir: string): readonly Driver[] {
  return [claudeCode(dir), codex(dir), gemini(dir), opencode(dir)];
}

const claudeCode = (dir: string): Driver => ({
  client: "Claude Code",
  package: "@anthropic-ai/claude-code",
  async connect({ url, token, home }) {
    const model = await startModel();
    const config = join(home, "mcp.json");
    const headers = { Authorization: `Bearer ${token}` };
    writeFileSync(config, JSON.stringify({ mcpServers: { mcpx: { type: "http", url, headers } } }));
    const env = {
      PATH: process.env.PATH,
      HOME: home,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: "none",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      ENABLE_TOOL_SEARCH: "false",
      DISABLE_AUTOUPDATER: "1",
    };
    const words = ["-p", "go", "--mcp-config", config, "--strict-mcp-config", "--allowedTools", "mcp__mcpx"];
    return sessionOf(model, () => run(join(dir, "node_modules/.bin/claude"), words, { env, cwd: home }));
  },
});

const codex = (dir: string): Driver => ({
  client: "Codex",
  package: "@openai/codex",
  async connect({ url, token, home }) {
    const model = await startModel();
    const codexHome = join(home, ".codex");
    mkdirSync(codexHome);
    const config = [
      'model = "scripted"',
      'model_provider = "scripted"',
      'approval_policy = "never"',
      "[model_providers.scripted]",
      'name = "scripted"',
      `base_url = "${model.url}/v1"`,
      'wire_api = "responses"',
      "[mcp_servers.mcpx]",
      `url = "${url}"`,
      // Else its model may be asked before the tools are there.
      "required = true",
      `http_headers = { Authorization = "Bearer ${token}" }`,
    ];
    writeFileSync(join(codexHome, "config.toml"), config.join("\n"));
    const env = { PATH: process.env.PATH, HOME: home, CODEX_HOME: codexHome };
    const words = ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "go"];
    return sessionOf(model, () => run(join(dir, "node_modules/.bin/codex"), words, { env, cwd: home }));
  },
});

const gemini = (dir: string): Driver => ({
  client: "Gemini CLI",
  package: "@google/gemini-cli",
  async connect({ url, token, home }) {
    const model = await startModel();
    mkdirSync(join(home, ".gemini"));
    const headers = { Authorization: `Bearer ${token}` };
    const settings = {
      mcpServers: { mcpx: { httpUrl: url, headers, trust: true } },
      security: { auth: { selectedType: "gemini-api-key" } },
      privacy: { usageStatisticsEnabled: false },
    };
    writeFileSync(join(home, ".gemini", "settings.json"), JSON.stringify(settings));
    const env = {
      PATH: process.env.PATH,
      HOME: home,
      GEMINI_API_KEY: "none",
      GOOGLE_GEMINI_BASE_URL: model.url,
      GEMINI_CLI_TRUST_WORKSPACE: "true",
    };
    const words = ["-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-p", "go"];
    return sessionOf(model, () => run(join(dir, "node_modules/.bin/gemini"), words, { env, cwd: home }));
  },
});

const opencode = (dir: string): Driver => ({
  client: "opencode",
  package: "opencode-ai",
  async connect({ url, token, home }) {
    const model = await startModel();
    const headers = { Authorization: `Bearer ${token}` };
    const config = {
      autoupdate: false,
      share: "disabled",
      mcp: { mcpx: { type: "remote", url, headers, oauth: false, enabled: true } },
      provider: { anthropic: { options: { baseURL: `${model.url}/v1`, apiKey: "none" } } },
    };
    writeFileSync(join(home, "opencode.json"), JSON.stringify(config));
    const env = { PATH: process.env.PATH, HOME: home, ANTHROPIC_API_KEY: "none" };
    const words = ["run", "-m", "anthropic/claude-sonnet-4-5", "go"];
    return sessionOf(model, () => run(join(dir, "node_modules/.bin/opencode"), words, { env, cwd: home }));
  },
});

function sessionOf(model: ModelServer, ask: () => Promise<string>): Session {
  return {
    async tools() {
      if (model.tools.length === 0) await ask();
      return model.tools.filter((name) => /__/.test(name));
    },
    async call(tool, args) {
      model.plan = { tool, args };
      model.told = undefined;
      const said = await ask();
      model.plan = undefined;
      return model.told ?? { text: `the model was told nothing: ${said}`, isError: true };
    },
    close: () => model.close(),
  };
}

/** All it has written, once it has ended. */
async function run(command: string, words: string[], options: SpawnOptions): Promise<string> {
  const child = spawn(command, words, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const said: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (part: Buffer) => said.push(part));
  await once(child, "close");
  return Buffer.concat(said).toString().slice(-1_000);
}
