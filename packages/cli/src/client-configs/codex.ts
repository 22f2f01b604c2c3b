// Codex: tables `[mcp_servers.NAME]` in `config.toml`, the user's and a project's.
import { isObject, type JsonObject } from "@mcpx/protocol";
import { type Client, usual, type WrittenServer } from "./client.ts";
import { joinAt } from "./places.ts";

export const codex: Client = {
  id: "codex",
  title: "Codex",
  format: "toml",
  files: (world) => [
    {
      path: joinAt(world, world.env.CODEX_HOME || joinAt(world, world.home, ".codex"), "config.toml"),
      scope: "user",
    },
    { path: joinAt(world, world.cwd, ".codex", "config.toml"), scope: "project" },
  ],
  groups: (_, { scope }, { cwd }) => [
    { path: ["mcp_servers"], project: scope === "project" ? cwd : undefined },
  ],
  variables: "none",
  written,
  reaches: "http",
  entryPath: ["mcp_servers", "mcpx"],
  // It refuses a token written as such, but takes a header.
  entry: ({ url, token }) => ({ url, http_headers: { Authorization: `Bearer ${token}` } }),
};

const own = [
  ...["http_headers", "env_http_headers", "bearer_token_env_var", "env_vars"],
  ...["enabled", "required", "startup_timeout_sec", "startup_timeout_ms", "tool_timeout_sec"],
];

function written(server: JsonObject): WrittenServer {
  const { headers: _, ...form } = usual(server, own);
  const { bearer_token_env_var: bearer, tool_timeout_sec: seconds, env_vars: variables } = server;
  const inherited = Array.isArray(variables)
    ? variables.map(variableName).filter((name) => name !== undefined)
    : [];
  const headers = {
    ...(isObject(server.http_headers) && server.http_headers),
    ...(isObject(server.env_http_headers) && fromVariables(server.env_http_headers)),
    ...(typeof bearer === "string" && { Authorization: `Bearer \${env:${bearer}}` }),
  };
  return {
    ...form,
    inherited,
    headers: Object.keys(headers).length > 0 ? headers : undefined,
    disabled: server.enabled === false ? true : undefined,
    timeoutMs: typeof seconds === "number" ? seconds * 1_000 : seconds,
  };
}

function fromVariables(names: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(names).map(([header, name]) => [header, `\${env:${String(name)}}`]),
  );
}

/** A name, or an object that has one. */
function variableName(value: unknown): string | undefined {
  const name = isObject(value) ? value.name : value;
  return typeof name === "string" ? name : undefined;
}
