// What an MCP client is to us: where it keeps its servers, how it writes one down, and how ours is written there.
import type { JsonObject } from "@mcpx/protocol";

/** The machine as the command line found it; places are computed from it alone. */
export interface ClientWorld {
  env: Readonly<Record<string, string | undefined>>;
  home: string;
  cwd: string;
  platform: NodeJS.Platform;
}

export interface ClientFile {
  path: string;
  scope: "user" | "project";
}

/** A place in a file where servers stand, by name. */
export interface ServerGroup {
  path: readonly string[];
  /** The project they belong to; relative paths begin there. */
  project: string | undefined;
}

/** One server as the known clients write it, the peculiar ones brought into the same form. */
export interface WrittenServer {
  command?: unknown;
  args?: unknown;
  env?: unknown;
  cwd?: unknown;
  url?: unknown;
  headers?: unknown;
  type?: unknown;
  disabled?: unknown;
  timeoutMs?: unknown;
  /** A file with more variables, which we do not read. */
  envFile?: unknown;
  /** Variables taken from the environment as they are. */
  inherited?: readonly string[];
  /** Keys that mean something there and nothing here. */
  untaken: readonly string[];
}

/** How a client writes what it fills in itself: `${VAR}`, `${env:VAR}` and its like, `$VAR`, `{env:VAR}`, or not at all. */
export type VariableStyle = "braces" | "editor" | "shell" | "named" | "none";

/** Our server as a client shall reach it. */
export interface Endpoint {
  url: string;
  token: string;
  /** For clients that only start commands. */
  command: string;
  args: readonly string[];
}

export interface Client {
  id: ClientId;
  title: string;
  format: "json" | "toml";
  /** The user's file first: it is the one we write into. */
  files(world: ClientWorld): ClientFile[];
  groups(value: unknown, file: ClientFile, world: ClientWorld): ServerGroup[];
  variables: VariableStyle;
  written(server: JsonObject, root: unknown, name: string): WrittenServer;
  /** Whether it asks us over HTTP with a token, or starts `mcpx stdio`. */
  reaches: "http" | "stdio";
  entryPath: readonly [string, string];
  /** A command of mcpx that does more for this client, and what it does. */
  hint?: string;
  entry(endpoint: Endpoint): JsonObject;
}

export const clientIds = [
  "claude-desktop",
  "claude-code",
  "cursor",
  "vscode",
  "codex",
  "gemini",
  "opencode",
] as const;

export type ClientId = (typeof clientIds)[number];

/** Keys every client understands alike. */
const common = ["command", "args", "env", "cwd", "url", "headers", "type", "disabled", "envFile"];
/** Keys that say nothing a server needs to run or to be held back. */
const idle = ["name", "description", "icon", "version", "gallery", "transport", "id"];

/** A server in the usual form. `others`: keys of this client that its own reading takes care of. */
export function usual(server: JsonObject, others: readonly string[] = []): WrittenServer {
  const known = [...common, ...idle, ...others];
  const untaken = Object.keys(server).filter((key) => !known.includes(key) && isTelling(server[key]));
  const { command, args, env, cwd, url, headers, type, disabled, envFile } = server;
  return { command, args, env, cwd, url, headers, type, disabled, envFile, untaken };
}

/** An empty list of exceptions excepts nothing. */
function isTelling(value: unknown): boolean {
  if (value === false || value === null || value === "") return false;
  return typeof value !== "object" || Object.keys(value as object).length > 0;
}
