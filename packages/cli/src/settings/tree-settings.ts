// From the configuration to the servers of the tree.
import { dirname, resolve } from "node:path";
import {
  type AwaitedAuthorisation,
  type Credentials,
  type LinkTaker,
  type Overrides,
  openLink,
  type Personal,
  type Profile,
  type Scanner,
  type ServerIdentity,
  type ServerOptions,
  segmentFor,
  type Transport,
  userKey,
} from "@mcpx/aggregator";
import { isId, McpxError } from "@mcpx/protocol";
import type { Config, LoadedConfig } from "../config/config.ts";
import { type FillInFrom, fillIn, fillInAll } from "../files/fill-in.ts";
import { Failure } from "../framework/failure.ts";
import { hideSecrets, secretsOf } from "../framework/secrets.ts";
import type { OAuthServer } from "../server/oauth.ts";
import { type AxSettings, axSettings, flowLimits } from "./ax-settings.ts";
import { type DeviceSettings, deviceSettings } from "./device-settings.ts";
import { defaultGates, type GateSettings, gateSettings } from "./gate-settings.ts";
import { launcherFor } from "./launcher-for.ts";
import { openRoomServer, roomServerId } from "./room-server.ts";
import { scannerSettings } from "./scanner-settings.ts";

export interface TreeSettings {
  segment: string | undefined;
  /** The segment, unless a parent puts its own segments before this tree's names. */
  rootSegment: string | undefined;
  servers: readonly ServerOptions[];
  profiles: readonly Profile[];
  /** Whether tools must stay what they were when they were first seen. */
  isPinned: boolean;
  /** How long the tools of a lost server stay listed; the tree's default unless given. */
  graceMs: number | undefined;
  /** How much of what servers say unasked is passed on; the tree's default unless given. */
  notifications?: ServerOptions["notifications"];
  /** What a call of each cost class costs; the tree's default unless given. */
  costUnits?: Config["costUnits"];
  /** What looks at results before callers do; nothing unless given. */
  scanners?: readonly Scanner[];
  ax: AxSettings;
  gates: GateSettings;
  /** The rooms it is a participant of. */
  rooms: readonly string[];
  /** The tree's participant ids in rooms that are its servers. */
  roomServerIds: readonly string[];
  /** On lines of this machine. */
  devices: readonly DeviceSettings[];
}

export const noServers: TreeSettings = {
  segment: undefined,
  rootSegment: undefined,
  servers: [],
  profiles: [],
  isPinned: true,
  graceMs: undefined,
  ax: { parents: [], ruleFor: () => ({}) },
  gates: defaultGates,
  rooms: [],
  roomServerIds: [],
  devices: [],
};

type ServerConfig = NonNullable<Config["mcpServers"]>[string];

/** A list waits this long for a server; a slower server appears later. */
const listMsDefault = 10_000;

/** The variables of mcpx's environment that every child process gets: enough to run, and no secrets. */
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

/** What is our user's and not another's. */
const ownersOnly = /^(HOME|USER|LOGNAME|SHELL|PATH|TMPDIR|XDG_.*)$/;

/** The directory from which relative paths of a configuration are resolved. */
export function configDir({ path }: LoadedConfig): string {
  return path === undefined ? "." : dirname(path);
}

/** What servers are started in. */
export interface TreeWorld extends FillInFrom {
  /** For servers elsewhere that want OAuth; without it none is offered. */
  credentialsFor?: ((server: OAuthServer) => Credentials) | undefined;
  /** The only one there is: what users sign in to themselves is theirs. */
  user?: string | undefined;
}

export function treeSettings(config: Config, world: TreeWorld): TreeSettings {
  const { mcpServers = {}, profiles = {}, segment, pins = true } = config;
  const servers = Object.entries(mcpServers)
    .filter(([, { disabled }]) => disabled !== true)
    .map(([name, server]) => serverOptions(name, server, world));
  const devices = deviceSettings(config, world);
  const ax = axSettings(config, world);
  const rootSegment = ax.parents.length > 0 ? undefined : segment;
  checkPlaces(servers, devices, rootSegment);
  return {
    segment,
    rootSegment,
    servers,
    devices,
    isPinned: pins,
    graceMs: config.degraded?.grace,
    notifications: flowLimits(config.notifications),
    ...(config.costUnits && { costUnits: config.costUnits }),
    ax,
    gates: gateSettings(config, world),
    scanners: scannerSettings(config, world),
    rooms: roomsOf(config),
    roomServerIds: Object.entries(mcpServers).flatMap(([name, server]) =>
      server.room === undefined ? [] : [roomServerId(server, name)],
    ),
    profiles: Object.entries(profiles).map(([name, { tools, names, search }]) => ({
      name,
      tools,
      dialect: names,
      search,
    })),
  };
}

/** That where its gates are shown, and those that were told to have it. */
function roomsOf({ topics = {}, gates }: Config): string[] {
  const named = Object.entries(topics).flatMap(([name, { tree }]) => (tree === true ? [name] : []));
  const glob = named.find((name) => !isId(name));
  if (glob !== undefined) {
    throw new Failure(
      `topics.${glob}.tree: a pattern is not allowed here, only the name of one room`,
      "name each room by itself",
    );
  }
  return [...new Set([...named, ...(gates?.room === undefined ? [] : [gates.room])])];
}

function serverOptions(name: string, config: ServerConfig, world: TreeWorld): ServerOptions {
  const { room } = config;
  const awaited: AwaitedAuthorisation = { address: undefined };
  const transportNow =
    config.command === undefined ? elsewhere(name, config, world, awaited) : child(config, world);
  const openWith =
    (credentials?: Credentials): ServerOptions["open"] =>
    async (opening, taker) => {
      const transport = transportNow(credentials);
      return openLink({ name, transport, ...opening }, withoutSecrets(taker, transport));
    };
  const wayTo = (): Pick<ServerOptions, "origin" | "open"> => {
    if (room !== undefined)
      return { origin: { kind: "room", room }, open: openRoomServer(name, room, roomServerId(config, name)) };
    if (config.oauth?.per !== "user" || world.user !== undefined)
      return { origin: { kind: "configured", awaited }, open: openWith() };
    const personal = { target: () => targetOf(config, world), open: openWith };
    return { origin: { kind: "per-user", personal }, open: nobodysOwn(name) };
  };
  return {
    name,
    segment: config.root === true ? undefined : (config.segment ?? segmentFor(name)),
    identity: () => identityOf(name, config, world),
    isTrusted: config.trusted === true,
    unannotated: config.unannotated,
    eraWanted: config.era === "auto" ? undefined : config.era,
    callMs: config.timeout,
    listMs: config.listTimeout ?? listMsDefault,
    idleMs: config.idleTimeout,
    overrides: overridesOf(config),
    isUnpinned: config.pin === false,
    notifications: flowLimits(config.notifications),
    ...wayTo(),
  };
}

/** What another server would have otherwise: what is started, where, with which settings; or which address. */
function identityOf(name: string, config: ServerConfig, world: TreeWorld): ServerIdentity {
  const { command, args = [], cwd = ".", user, env = {}, url = "", headers = {}, room } = config;
  if (room !== undefined) return { kind: "room", facts: { room, id: roomServerId(config, name) } };
  if (command === undefined) {
    return { kind: "http", facts: { url: fillIn(url, world), headers: fillInAll(headers, world) } };
  }
  return {
    kind: "stdio",
    facts: {
      command: fillIn(command, world),
      args: args.map((arg) => fillIn(arg, world)),
      cwd: resolve(world.dir, fillIn(cwd, world)),
      ...(user !== undefined && { user }),
      env: fillInAll(env, world),
    },
  };
}

function targetOf({ url = "", oauth }: ServerConfig, world: TreeWorld): ReturnType<Personal["target"]> {
  return { url: fillIn(url, world), config: filledOAuth(oauth, world) ?? {} };
}

/** For a server that users sign in to: only their own sessions exist. */
function nobodysOwn(name: string): ServerOptions["open"] {
  return async () => {
    throw new McpxError("server_unauthorised", `${name}: users sign in to it themselves`);
  };
}

/** What a server says for people is shown to many; what it was given in confidence is not. */
function withoutSecrets(taker: LinkTaker, transport: Transport): LinkTaker {
  const { env, ...rest } = transport.type === "stdio" ? transport : { ...transport, env: {} };
  const given = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const secrets = secretsOf({ ...rest, env: Object.fromEntries(given) });
  return { ...taker, logLine: (line) => taker.logLine(hideSecrets(line, secrets)) };
}

function overridesOf({ tools, allow, deny }: ServerConfig): Overrides | undefined {
  if (tools === undefined && allow === undefined && deny === undefined) return undefined;
  return { tools: new Map(Object.entries(tools ?? {})), allow, deny };
}

function child(config: ServerConfig, world: TreeWorld): () => Transport {
  const { command = "", args = [], env = {}, cwd, user } = config;
  const as = launcherFor(user, world.env);
  const isPassed = (key: string) => as === undefined || !ownersOnly.test(key);
  const kept = Object.fromEntries(
    inherited.flatMap((key) =>
      world.env[key] === undefined || !isPassed(key) ? [] : [[key, world.env[key]]],
    ),
  );
  const isAtHome = as !== undefined && cwd === undefined;
  return () => ({
    type: "stdio",
    command: fillIn(command, world),
    args: args.map((arg) => fillIn(arg, world)),
    cwd: isAtHome ? "" : resolve(world.dir, fillIn(cwd ?? ".", world)),
    env: { ...kept, ...fillInAll(env, world) },
    as,
  });
}

function elsewhere(
  name: string,
  config: ServerConfig,
  world: TreeWorld,
  awaited: AwaitedAuthorisation,
): (own: Credentials | undefined) => Transport {
  const { url = "", headers = {}, type, oauth } = config;
  const key = oauth?.per === "user" && world.user !== undefined ? userKey(name, world.user) : name;
  // One for all conversations: they share what was granted.
  let credentials: Credentials | undefined;
  const hasOwn = Object.keys(headers).some((header) => header.toLowerCase() === "authorization");
  return (own) => {
    const filled = fillIn(url, world);
    if (!hasOwn && own === undefined)
      credentials ??= world.credentialsFor?.({
        name,
        key,
        url: filled,
        config: filledOAuth(oauth, world),
        awaited,
      });
    return {
      type: type === "sse" ? "sse" : type === undefined ? "auto-http" : "http",
      url: filled,
      headers: fillInAll(headers, world),
      credentials: own ?? credentials,
    };
  };
}

function filledOAuth(oauth: ServerConfig["oauth"], world: TreeWorld): OAuthServer["config"] {
  if (oauth?.clientSecret === undefined) return oauth;
  return { ...oauth, clientSecret: fillIn(oauth.clientSecret, world) };
}

function checkPlaces(
  servers: readonly ServerOptions[],
  devices: readonly DeviceSettings[],
  rootSegment: string | undefined,
): void {
  const taken = new Map<string | undefined, string>([["mcpax", "mcpx itself"]]);
  if (rootSegment === "mcpax")
    throw new Failure(`segment: "mcpax" belongs to mcpx itself`, "give this tree another segment");
  // A name would not say any more whether its first part is the root's or the server's.
  if (rootSegment !== undefined) taken.set(rootSegment, `this tree itself ("segment": "${rootSegment}")`);
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
  for (const { segment } of devices.map(({ config }) => config)) {
    const holder = taken.get(segment);
    if (holder !== undefined) {
      throw new Failure(
        `devices.${segment}: the segment belongs to ${holder}`,
        "give the device another name",
      );
    }
  }
}
