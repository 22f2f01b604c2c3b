// Frameworks of agents: tools as their agents have them, and results as their models are told.
import { type Driver, toldOf } from "../support/driver.ts";
import { load } from "../support/installed.ts";

export const frameworkPackages = [
  "@langchain/mcp-adapters",
  "@langchain/core",
  "@langchain/langgraph@>=1.4.10 <1.4.14",
  "@openai/agents-core",
  "@mastra/mcp",
  "@mastra/core",
  "@google/adk",
] as const;

const shown = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));

/** `dir`: where they are installed. */
export function frameworks(dir: string): readonly Driver[] {
  return [langChain(dir), openAiAgents(dir), mastra(dir), googleAdk(dir)];
}

const langChain = (dir: string): Driver => ({
  client: "LangChain MCP adapters",
  package: "@langchain/mcp-adapters",
  async connect({ url, token }) {
    const { MultiServerMCPClient } = await load(dir, "@langchain/mcp-adapters");
    const headers = { Authorization: `Bearer ${token}` };
    const client = new MultiServerMCPClient({ mcpServers: { mcpx: { transport: "http", url, headers } } });
    const tools: { name: string; invoke(args: object): Promise<unknown> }[] = await client.getTools();
    return {
      tools: async () => tools.map(({ name }) => name),
      call: (name, args) =>
        toldOf(async () => {
          const tool = tools.find((one) => one.name === name);
          return { text: shown(await tool?.invoke(args)), isError: false };
        }),
      close: () => client.close(),
    };
  },
});

const openAiAgents = (dir: string): Driver => ({
  client: "OpenAI Agents",
  package: "@openai/agents-core",
  async connect({ url, token }) {
    const { MCPServerStreamableHttp, getAllMcpTools, RunContext, Agent } = await load(
      dir,
      "@openai/agents-core",
    );
    const requestInit = { headers: { Authorization: `Bearer ${token}` } };
    const server = new MCPServerStreamableHttp({ url, name: "mcpx", requestInit });
    await server.connect();
    const runContext = new RunContext();
    const agent = new Agent({ name: "agent", mcpServers: [server] });
    const tools = await getAllMcpTools({ mcpServers: [server], runContext, agent });
    return {
      tools: async () => tools.map(({ name }: { name: string }) => name),
      call: (name, args) =>
        toldOf(async () => {
          const tool = tools.find((one: { name: string }) => one.name === name);
          const text = shown(await tool.invoke(runContext, JSON.stringify(args)));
          return { text, isError: /^An error occurred/.test(text) };
        }),
      close: () => server.close(),
    };
  },
});

const mastra = (dir: string): Driver => ({
  client: "Mastra",
  package: "@mastra/mcp",
  async connect({ url, token, home }) {
    const { MCPClient } = await load(dir, "@mastra/mcp");
    const requestInit = { headers: { Authorization: `Bearer ${token}` } };
    const client = new MCPClient({ id: home, servers: { mcpx: { url: new URL(url), requestInit } } });
    // biome-ignore lint/suspicious/noExplicitAny: tools of any form
    const tools: Record<string, any> = await client.listTools();
    return {
      tools: async () => Object.keys(tools),
      call: (name, args) =>
        toldOf(async () => {
          const output = await tools[name].execute(args, {});
          return { text: shown(output), isError: output?.isError === true };
        }),
      close: () => client.disconnect(),
    };
  },
});

const googleAdk = (dir: string): Driver => ({
  client: "Google ADK",
  package: "@google/adk",
  async connect({ url, token }) {
    const { MCPToolset } = await load(dir, "@google/adk");
    const requestInit = { headers: { Authorization: `Bearer ${token}` } };
    const params = { type: "StreamableHTTPConnectionParams", url, transportOptions: { requestInit } };
    const toolset = new MCPToolset(params);
    const tools: { name: string; runAsync(request: object): Promise<unknown> }[] = await toolset.getTools();
    return {
      tools: async () => tools.map(({ name }) => name),
      call: (name, args) =>
        toldOf(async () => {
          const tool = tools.find((one) => one.name === name);
          const output = await tool?.runAsync({ args, toolContext: {} });
          return { text: shown(output), isError: (output as { isError?: boolean })?.isError === true };
        }),
      close: () => toolset.close(),
    };
  },
});
