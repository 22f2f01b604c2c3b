// Gemini CLI: `mcpServers` in `settings.json`, the user's and a project's. Its `httpUrl` is streamable HTTP, its bare
// `url` the older SSE.
import { isObject, type JsonObject } from "@mcpx/protocol";
import { type Client, usual, type WrittenServer } from "./client.ts";
import { joinAt } from "./places.ts";

export const gemini: Client = {
  id: "gemini",
  title: "Gemini CLI",
  format: "json",
  files: (world) => [
    {
      path: joinAt(world, world.env.GEMINI_CLI_HOME || world.home, ".gemini", "settings.json"),
      scope: "user",
    },
    { path: joinAt(world, world.cwd, ".gemini", "settings.json"), scope: "project" },
  ],
  groups: (_, { scope }, { cwd }) => [
    { path: ["mcpServers"], project: scope === "project" ? cwd : undefined },
  ],
  variables: "shell",
  written,
  reaches: "http",
  entryPath: ["mcpServers", "mcpx"],
  entry: ({ url, token }) => ({ httpUrl: url, headers: { Authorization: `Bearer ${token}` } }),
};

function written(server: JsonObject, root: unknown, name: string): WrittenServer {
  const form = usual(server, ["httpUrl", "timeout"]);
  const { httpUrl, url, type, timeout } = server;
  const excluded = isObject(root) && isObject(root.mcp) ? root.mcp.excluded : undefined;
  return {
    ...form,
    url: httpUrl ?? url,
    type: httpUrl !== undefined ? "http" : (type ?? (url === undefined ? undefined : "sse")),
    disabled: form.disabled ?? (Array.isArray(excluded) && excluded.includes(name) ? true : undefined),
    timeoutMs: timeout,
  };
}
