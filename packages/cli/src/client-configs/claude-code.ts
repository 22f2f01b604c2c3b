// Claude Code: the user's servers and those of each project in `~/.claude.json`, shared ones in a project's
// `.mcp.json`.
import { isObject } from "@mcpx/protocol";
import { type Client, usual } from "./client.ts";
import { joinAt } from "./places.ts";

export const claudeCode: Client = {
  id: "claude-code",
  title: "Claude Code",
  format: "json",
  files: (world) => [
    { path: joinAt(world, world.env.CLAUDE_CONFIG_DIR || world.home, ".claude.json"), scope: "user" },
    { path: joinAt(world, world.cwd, ".mcp.json"), scope: "project" },
  ],
  groups(value, { scope }, { cwd }) {
    if (scope === "project") return [{ path: ["mcpServers"], project: cwd }];
    const projects = isObject(value) && isObject(value.projects) ? Object.keys(value.projects) : [];
    return [
      { path: ["mcpServers"], project: undefined },
      ...projects.map((project) => ({ path: ["projects", project, "mcpServers"], project })),
    ];
  },
  variables: "braces",
  written: (server) => usual(server),
  reaches: "http",
  entryPath: ["mcpServers", "mcpx"],
  hint: "hook --print shows how people decide about its own tools too, its shell and its files",
  entry: ({ url, token }) => ({ type: "http", url, headers: { Authorization: `Bearer ${token}` } }),
};
