// The machine a terminal transcript is played on: the home of somebody who has three clients, with servers from npm and
// one of a friend, and nothing of ours yet.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { mcpxCommand, programPath } from "../../support/programs.ts";
import { put } from "./client-homes.ts";
import { bin, scratch } from "./mcpx-process.ts";
import type { Machine } from "./terminal-transcript.ts";

const root = dirname(dirname(dirname(import.meta.dirname)));
const require = createRequire(import.meta.url);
const filesystem = require.resolve("@modelcontextprotocol/server-filesystem/dist/index.js");
const recipes = programPath("tests/cli/support/recipes-server.ts");

const files = {
  ".config/Claude/claude_desktop_config.json": `{
  "mcpServers": {
    "everything": {
      "command": "mcp-server-everything"
    }
  }
}
`,
  "shop/.cursor/mcp.json": `{
  "mcpServers": {
    "files": { "command": "mcp-server-filesystem", "args": ["notes"] }
  }
}
`,
  ".codex/config.toml": `[mcp_servers.recipes]
command = "recipes-server"

[mcp_servers.everything]
command = "mcp-server-everything"
`,
  "shop/notes/shopping.txt": "Milk, eggs\n",
  "recipes.txt": "Reads the recipe of a dish.\n",
} as const;

export function newMachine(): Machine {
  const home = scratch();
  for (const [path, text] of Object.entries(files)) put(join(home, path), text);
  const bins = join(home, "bin");
  const node = dirname(process.execPath);
  putCommand(join(bins, "mcpx"), mcpxCommand);
  putCommand(join(bins, "mcp-server-filesystem"), [process.execPath, filesystem]);
  putCommand(join(bins, "recipes-server"), [process.execPath, recipes], '"$HOME/recipes.txt"');
  const env = {
    HOME: home,
    XDG_CONFIG_HOME: "",
    PATH: [bins, join(root, "node_modules", ".bin"), node, "/usr/bin", "/bin"].join(":"),
  };
  const names = new Map([
    [process.execPath, "<node>"],
    [bin, "<mcpx>"],
    [home, "<home>"],
    // Where sources run as they are, hints are for a clone.
    ["npx mcpx", "mcpx"],
  ]);
  return { options: { cwd: join(home, "shop"), env }, names };
}

function putCommand(path: string, command: readonly string[], args = '"$@"'): void {
  const words = command.map((word) => `"${word}"`).join(" ");
  put(path, `#!/bin/sh\nexec ${words} ${args}\n`, 0o700);
}
