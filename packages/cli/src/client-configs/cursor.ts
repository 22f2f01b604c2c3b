// Cursor: `mcp.json` in `~/.cursor` and in a project's `.cursor`.
import { type Client, usual } from "./client.ts";
import { joinAt } from "./places.ts";

export const cursor: Client = {
  id: "cursor",
  title: "Cursor",
  format: "json",
  files: (world) => [
    { path: joinAt(world, world.home, ".cursor", "mcp.json"), scope: "user" },
    { path: joinAt(world, world.cwd, ".cursor", "mcp.json"), scope: "project" },
  ],
  groups: (_, { scope }, { cwd }) => [
    { path: ["mcpServers"], project: scope === "project" ? cwd : undefined },
  ],
  variables: "editor",
  written: (server) => usual(server),
  reaches: "http",
  entryPath: ["mcpServers", "mcpx"],
  entry: ({ url, token }) => ({ url, headers: { Authorization: `Bearer ${token}` } }),
};
