// Assistants at the command line, each with a scripted model: one run of the program for each call.
import { type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Driver, Session } from "../support/driver.ts";
import { type ModelServer, startModel } from "../support/model-server.ts";

interface Endpoint {
  url: string;
  token: string;
}

export interface Assistant {
  readonly client: string;
  /** As npm has it, and the program it brings. */
  readonly package: string;
  readonly program: string;
  /** As `mcpx connect` calls it. */
  readonly id: string;
  /** What its program is told to do one thing without asking. */
  readonly words: readonly string[];
  readonly env: (model: ModelServer) => Record<string, string>;
  /** Where its settings are, from the home. */
  readonly file: string;
  /** A file with servers, and words that name it: a program that is told so waits until they are there. */
  readonly named?: { readonly file: string; readonly words: readonly string[] };
  /** With this model; without a server, that is for others to add. */
  readonly settings: (model: ModelServer, endpoint?: Endpoint) => string;
}

const bearer = ({ token }: Endpoint) => ({ Authorization: `Bearer ${token}` });
const json = (value: object) => JSON.stringify(value, undefined, 2);

export const claudeCode: Assistant = {
  client: "Claude Code",
  package: "@anthropic-ai/claude-code",
  program: "claude",
  id: "claude-code",
  words: ["-p", "go", "--allowedTools", "mcp__mcpx"],
  env: ({ url }) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "none",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    ENABLE_TOOL_SEARCH: "false",
    DISABLE_AUTOUPDATER: "1",
  }),
  file: ".claude.json",
  named: { file: "mcp.json", words: ["--mcp-config", "mcp.json", "--strict-mcp-config"] },
  settings: (_, endpoint) => {
    const mcpx = endpoint && { type: "http", url: endpoint.url, headers: bearer(endpoint) };
    return json({ hasCompletedOnboarding: true, ...(mcpx && { mcpServers: { mcpx } }) });
  },
};

const codex: Assistant = {
  client: "Codex",
  package: "@openai/codex",
  program: "codex",
  id: "codex",
  words: ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "go"],
  env: () => ({}),
  file: ".codex/config.toml",
  settings: ({ url }, endpoint) => {
    const lines = [
      'model = "scripted"',
      'model_provider = "scripted"',
      'approval_policy = "never"',
      "[model_providers.scripted]",
      'name = "scripted"',
      `base_url = "${url}/v1"`,
      'wire_api = "responses"',
    ];
    const server = endpoint && [
      "[mcp_servers.mcpx]",
      `url = "${endpoint.url}"`,
      // Else its model may be asked before the tools are there.
      "required = true",
      `http_headers = { Authorization = "${bearer(endpoint).Authorization}" }`,
    ];
    return `${[...lines, ...(server ?? [])].join("\n")}\n`;
  },
};

const gemini: Assistant = {
  client: "Gemini CLI",
  package: "@google/gemini-cli",
  program: "gemini",
  id: "gemini",
  words: ["-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-p", "go"],
  env: ({ url }) => ({
    GEMINI_API_KEY: "none",
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_CLI_TRUST_WORKSPACE: "true",
  }),
  file: ".gemini/settings.json",
  settings: (_, endpoint) => {
    const mcpx = endpoint && { httpUrl: endpoint.url, headers: bearer(endpoint), trust: true };
    return json({
      ...(mcpx && { mcpServers: { mcpx } }),
      security: { auth: { selectedType: "gemini-api-key" } },
      privacy: { usageStatisticsEnabled: false },
    });
  },
};

const opencode: Assistant = {
  client: "opencode",
  package: "opencode-ai",
  program: "opencode",
  id: "opencode",
  words: ["run", "-m", "anthropic/claude-sonnet-4-5", "go"],
  env: () => ({ ANTHROPIC_API_KEY: "none" }),
  file: ".config/opencode/opencode.json",
  settings: ({ url }, endpoint) => {
    const mcpx = endpoint && { type: "remote", url: endpoint.url, headers: bearer(endpoint), oauth: false };
    return json({
      autoupdate: false,
      share: "disabled",
      ...(mcpx && { mcp: { mcpx } }),
      provider: { anthropic: { options: { baseURL: `${url}/v1`, apiKey: "none" } } },
    });
  },
};

export const assistants: readonly Assistant[] = [claudeCode, codex, gemini, opencode];

/** `dir`: where they are installed. */
export function assistantDrivers(dir: string): readonly Driver[] {
  return assistants.map((assistant) => ({
    client: assistant.client,
    package: assistant.package,
    connect: ({ url, token, home }) => openAssistant(assistant, dir, home, { url, token }),
  }));
}

/** With its settings in this home, and a model of its own. */
export async function openAssistant(
  assistant: Assistant,
  dir: string,
  home: string,
  endpoint?: Endpoint,
): Promise<Session & { model: ModelServer; ask(): Promise<string> }> {
  const model = await startModel();
  const path = join(home, assistant.file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, assistant.settings(model, endpoint));
  const { named } = endpoint === undefined ? {} : assistant;
  if (named !== undefined) {
    const { mcpServers } = JSON.parse(assistant.settings(model, endpoint));
    writeFileSync(join(home, named.file), json({ mcpServers }));
  }
  const words = [...assistant.words, ...(named?.words ?? [])];
  const env = { PATH: process.env.PATH, HOME: home, ...assistant.env(model) };
  const program = join(dir, "node_modules", ".bin", assistant.program);
  const ask = () => run(program, words, { env, cwd: home });
  return {
    model,
    ask,
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
async function run(command: string, words: readonly string[], options: SpawnOptions): Promise<string> {
  const child = spawn(command, words, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const said: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (part: Buffer) => said.push(part));
  await once(child, "close");
  return Buffer.concat(said).toString().slice(-1_000);
}
