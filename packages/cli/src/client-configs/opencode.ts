// opencode: servers under `mcp`, in `opencode.json` of its own directory and of a project. Commands are one list with
// their arguments. It keeps to `~/.config` on every system.
import { isObject, type JsonObject } from "@mcpx/protocol";
import { type Client, usual, type WrittenServer } from "./client.ts";
import { isAbsoluteAt, joinAt } from "./places.ts";

export const opencode: Client = {
  id: "opencode",
  title: "opencode",
  format: "json",
  files(world) {
    const { XDG_CONFIG_HOME: base = "" } = world.env;
    const settings = isAbsoluteAt(world, base) ? base : joinAt(world, world.home, ".config");
    const names = ["opencode.json", "opencode.jsonc"];
    return [
      ...names.map((name) => ({ path: joinAt(world, settings, "opencode", name), scope: "user" as const })),
      ...names.map((name) => ({ path: joinAt(world, world.cwd, name), scope: "project" as const })),
    ];
  },
  groups: (_, { scope }, { cwd }) => [{ path: ["mcp"], project: scope === "project" ? cwd : undefined }],
  variables: "named",
  written,
  reaches: "http",
  entryPath: ["mcp", "mcpx"],
  // Unless told otherwise it wants to sign in where an address answers 401, as ours does once the token is over.
  entry: ({ url, token }) => ({
    type: "remote",
    url,
    oauth: false,
    headers: { Authorization: `Bearer ${token}` },
  }),
};

function written(server: JsonObject): WrittenServer {
  const { type: _, ...form } = usual(server, ["environment", "enabled", "timeout", "oauth"]);
  const { command, environment, enabled, timeout } = server;
  const [program, ...args] = Array.isArray(command) ? command : [command];
  return {
    ...form,
    command: program,
    ...(args.length > 0 && { args }),
    env: environment,
    disabled: enabled === false ? true : undefined,
    timeoutMs: isObject(timeout) ? timeout.request : timeout,
  };
}
