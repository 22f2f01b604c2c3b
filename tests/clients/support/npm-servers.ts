// Servers that many people have, as npm has them: how each is started, and one call that works here or fails alike
// wherever it is made. Keys are made up: what a service answers to them passes the tree like any other result.
export interface NpmServer {
  readonly package: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly call: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };
}

export const npmServers: readonly NpmServer[] = [
  {
    package: "@modelcontextprotocol/server-everything",
    call: { name: "echo", arguments: { message: "hello" } },
  },
  {
    package: "@modelcontextprotocol/server-filesystem",
    args: ["/usr/share"],
    call: { name: "list_allowed_directories", arguments: {} },
  },
  {
    package: "@modelcontextprotocol/server-memory",
    env: { MEMORY_FILE_PATH: "/dev/null" },
    call: { name: "read_graph", arguments: {} },
  },
  {
    package: "@modelcontextprotocol/server-sequential-thinking",
    call: {
      name: "sequentialthinking",
      arguments: { thought: "one", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
    },
  },
  { package: "@playwright/mcp", args: ["--headless"], call: { name: "browser_close", arguments: {} } },
  {
    package: "@upstash/context7-mcp",
    call: { name: "resolve-library-id", arguments: { query: "how to use it", libraryName: "react" } },
  },
  {
    package: "chrome-devtools-mcp",
    args: ["--headless", "--executablePath", "/nonexistent/chrome"],
    call: { name: "list_pages", arguments: {} },
  },
  {
    package: "@notionhq/notion-mcp-server",
    env: { NOTION_TOKEN: "ntn_none" },
    call: { name: "API-get-self", arguments: {} },
  },
  {
    package: "tavily-mcp",
    env: { TAVILY_API_KEY: "tvly-none" },
    call: { name: "tavily_search", arguments: { query: "mcp" } },
  },
  {
    package: "firecrawl-mcp",
    env: { FIRECRAWL_API_KEY: "fc-none" },
    call: { name: "firecrawl_scrape", arguments: { url: "https://example.com" } },
  },
  { package: "mcp-server-kubernetes", call: { name: "ping", arguments: {} } },
  {
    package: "figma-developer-mcp",
    args: ["--stdio", "--figma-api-key=none"],
    call: { name: "get_figma_data", arguments: { fileKey: "none" } },
  },
];
