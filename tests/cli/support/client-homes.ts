// Homes of people who use MCP clients, with files as those clients write them.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { scratch } from "./mcpx-process.ts";

export const userFiles = {
  "claude-desktop": ".config/Claude/claude_desktop_config.json",
  "claude-code": ".claude.json",
  cursor: ".cursor/mcp.json",
  vscode: ".config/Code/User/mcp.json",
  codex: ".codex/config.toml",
  gemini: ".gemini/settings.json",
  opencode: ".config/opencode/opencode.json",
} as const;

export type ClientName = keyof typeof userFiles;

export const secret = "ghp_0123456789abcdefABCDEF0123456789abcd";

const contents: Record<ClientName, string> = {
  "claude-desktop": `{
  "globalShortcut": "Ctrl+Space",
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/me/Documents"]
    },
    "github": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-github"],
      "env": {
        "GITHUB_PERSONAL_ACCESS_TOKEN": "${secret}"
      }
    }
  }
}`,
  "claude-code": `{
  "numStartups": 42,
  "mcpServers": {
    "sentry": { "type": "http", "url": "https://mcp.sentry.dev/mcp" }
  },
  "projects": {
    "/home/me/shop": {
      "allowedTools": [],
      "mcpServers": {
        "db": { "type": "stdio", "command": "./db-server", "args": ["--password", "hunter2"], "env": {} }
      }
    },
    "/home/me/empty": { "mcpServers": {} }
  },
  "oauthAccount": { "accessToken": "${secret}" }
}
`,
  cursor: `{
  // shared with the team
  "mcpServers": {
    "github": {
      "url": "https://api.githubcopilot.com/mcp/",
      "headers": { "Authorization": "Bearer \${env:GH_TOKEN}" }
    },
    "filesystem": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/me/Documents"], // the same
    },
  },
}
`,
  vscode: `{\r
\t"inputs": [{ "type": "promptString", "id": "perplexity-key", "password": true }],\r
\t"servers": {\r
\t\t"perplexity": {\r
\t\t\t"type": "stdio",\r
\t\t\t"command": "npx",\r
\t\t\t"args": ["-y", "server-perplexity-ask"],\r
\t\t\t"env": { "PERPLEXITY_API_KEY": "\${input:perplexity-key}" }\r
\t\t}\r
\t}\r
}\r
`,
  codex: `model = "gpt-5.3-codex"  # the good one

[mcp_servers.context7]
command = "npx"
args = ["-y", "@upstash/context7-mcp"]
env_vars = ["LOCAL_TOKEN"]
tool_timeout_sec = 45

[mcp_servers.context7.env]
MODE = "fast"

[mcp_servers.figma]
url = "https://mcp.figma.com/mcp"
bearer_token_env_var = "FIGMA_OAUTH_TOKEN"
http_headers = { "X-Figma-Region" = "us-east-1" }
enabled = false

# how it looks
[tui]
theme = "dark"
`,
  gemini: `\ufeff{
    "theme": "Dracula",
    "mcpServers": {
        "hub": {
            "httpUrl": "https://hub.example.com/mcp",
            "headers": { "Authorization": "$HUB_TOKEN" },
            "timeout": 5000,
            "excludeTools": ["delete_everything"]
        },
        "old": { "url": "https://old.example.com/sse" }
    }
}
`,
  opencode: `{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    "jira": {
      "type": "remote",
      "url": "https://jira.example.com/mcp",
      "oauth": false,
      "headers": { "Authorization": "Bearer {env:JIRA_TOKEN}" },
      "enabled": false
    },
    // of this machine
    "notes": {
      "type": "local",
      "command": ["npx", "-y", "server-notes"],
      "environment": { "NOTES": "/home/me/notes" },
      "timeout": 20000
    }
  }
}
`,
};

export interface Home {
  dir: string;
  project: string;
  env: Record<string, string>;
  path(client: ClientName): string;
}

/** With the files of these clients, or of all. */
export function newHome(clients: readonly ClientName[] = Object.keys(userFiles) as ClientName[]): Home {
  const dir = scratch();
  const path = (client: ClientName) => join(dir, userFiles[client]);
  for (const client of clients) put(path(client), contents[client]);
  const project = join(dir, "project");
  mkdirSync(project);
  return { dir, project, path, env: { HOME: dir, XDG_CONFIG_HOME: "" } };
}

export function put(path: string, content: string | Buffer, mode = 0o666): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content, { mode });
}
