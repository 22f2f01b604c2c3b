// From the configuration to the servers of the tree.
import { dirname, resolve } from "node:path";
import { openLink, type Profile, type ServerOptions, segmentFor } from "@mcpx/aggregator";
import type { Config, LoadedConfig } from "./config.ts";
import { Failure } from "./failure.ts";

export interface TreeSettings {
  segment: string | undefined;
  servers: readonly ServerOptions[];
  profiles: readonly Profile[];
}

type ServerConfig = NonNullable<Config["mcpServers"]>[string];
type Environment = Readonly<Record<string, string | undefined>>;

/** A list waits this long for a server; whoever is slower appears later. */
const listMsDefault = 10_000;

/** What a child gets of our environment without being given it: enough to run, no secret among it. */
const inherited = [
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"],
  ...["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "SystemRoot", "APPDATA"],
  ...[
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "NODE_EXTRA_CA_CERTS",
  ],
];

/** Where relative paths of a configuration begin. */
export function configDir({ path }: LoadedConfig): string {
  return path === undefined ? "." : dirname(path);
}

/** `dir` is where relative paths of the configuration begin. */
export function treeSettings(config: Config, dir: string, env: Environment): TreeSettings {
  const { mcpServers = {}, profiles = {}, segment } = config;
  const servers = Object.entries(mcpServers)
    .filter(([, { disabled }]) => disabled !== true)
    .map(([name, server]) => serverOptions(name, server, dir, env));
  checkPlaces(servers);
  return {
    segment,
    servers,
    profiles: Object.entries(profiles).map(([name, { tools, names }]) => ({ name, tools, dialect: names })),
  };
}

function serverOptions(name: string, config: ServerConfig, dir: string, env: Environment): ServerOptions {
  const transport = transportOf(config, dir, env);
  return {
    name,
    segment: config.root === true ? undefined : (config.segment ?? segmentFor(name)),
    isTrusted: config.trusted === true,
    callMs: config.timeout,
    listMs: config.listTimeout ?? listMsDefault,
    open: (opening, taker) => openLink({ name, transport, ...opening }, taker),
  };
}

function transportOf(
  config: ServerConfig,
  dir: string,
  env: Environment,
): Parameters<typeof openLink>[0]["transport"] {
  const { command, args = [], url = "", headers = {}, type } = config;
  if (command !== undefined) {
    const kept = Object.fromEntries(
      inherited.flatMap((key) => (env[key] === undefined ? [] : [[key, env[key]]])),
    );
    return {
      type: "stdio",
      command,
      args,
      cwd: resolve(dir, config.cwd ?? "."),
      env: { ...kept, ...config.env },
    };
  }
  if (type === "sse") return { type: "sse", url, headers };
  return { type: type === undefined ? "auto-http" : "http", url, headers };
}

function checkPlaces(servers: readonly ServerOptions[]): void {
  const taken = new Map<string | undefined, string>([["mcpax", "mcpx itself"]]);
  for (const { name, segment } of servers) {
    const holder = taken.get(segment);
    if (holder !== undefined) {
      const place = segment === undefined ? "the root" : `the segment ${segment}`;
      throw new Failure(
        `mcpServers.${name}: ${place} belongs to ${holder}`,
        `give one of them "segment": "other-name"`,
      );
    }
    taken.set(segment, name);
  }
}
