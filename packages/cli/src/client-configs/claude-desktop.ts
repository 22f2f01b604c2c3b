// Claude Desktop: commands only; it does not reach addresses named in this file.
import { type Client, usual } from "./client.ts";
import { joinAt, settingsDir } from "./places.ts";

export const claudeDesktop: Client = {
  id: "claude-desktop",
  title: "Claude Desktop",
  format: "json",
  files: (world) => [
    { path: joinAt(world, settingsDir(world), "Claude", "claude_desktop_config.json"), scope: "user" },
  ],
  groups: () => [{ path: ["mcpServers"], project: undefined }],
  variables: "none",
  written: (server) => usual(server),
  reaches: "stdio",
  entryPath: ["mcpServers", "mcpx"],
  entry: ({ command, args }) => ({ command, args: [...args] }),
};
