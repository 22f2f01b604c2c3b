// Visual Studio Code: `mcp.json` of the user's default profile and in a workspace's `.vscode`; servers under `servers`.
import { type Client, usual } from "./client.ts";
import { joinAt, settingsDir } from "./places.ts";

export const vscode: Client = {
  id: "vscode",
  title: "VS Code",
  format: "json",
  files: (world) => [
    { path: joinAt(world, settingsDir(world), "Code", "User", "mcp.json"), scope: "user" },
    { path: joinAt(world, world.cwd, ".vscode", "mcp.json"), scope: "project" },
  ],
  groups: (_, { scope }, { cwd }) => [{ path: ["servers"], project: scope === "project" ? cwd : undefined }],
  variables: "editor",
  written: (server) => usual(server, ["dev"]),
  reaches: "http",
  entryPath: ["servers", "mcpx"],
  entry: ({ url, token }) => ({ type: "http", url, headers: { Authorization: `Bearer ${token}` } }),
};
