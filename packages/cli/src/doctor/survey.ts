// Starts every server of the configuration, each in a tree of its own, and asks what it has.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  type CredentialStore,
  type Credentials,
  createOAuthCredentials,
  createTree,
  innerPrincipal,
  plainCaller,
  type RunningTree,
  readUserKey,
  type ServerOptions,
} from "@mcpx/aggregator";
import { createLogger, systemClock } from "@mcpx/host";
import { type JsonObject, withRoot } from "@mcpx/protocol";
import type { Config, LoadedConfig } from "../config/config.ts";
import { rootSegmentOf } from "../config-edit/edit-config.ts";
import { fillIn } from "../files/fill-in.ts";
import { openLocalState } from "../files/local-store.ts";
import { type Home, readStatePlace } from "../files/state-place.ts";
import { Failure } from "../framework/failure.ts";
import { findCommand } from "../framework/find-program.ts";
import { hideSecrets, secretsOf } from "../framework/secrets.ts";
import { version } from "../framework/version.ts";
import type { OAuthServer } from "../server/oauth.ts";
import { configDir, treeSettings } from "../settings/tree-settings.ts";
import { missingReferences } from "./references.ts";

export interface ServerReport {
  name: string;
  /** Why it was not started, or does not list. */
  fault?: { text: string; kind: "command" | "start" | "list" } | undefined;
  /** The server's tools as the tree lists them. */
  tools: { name: string; item: JsonObject }[];
  leftOut: readonly string[];
  tookMs: number;
  isElsewhere: boolean;
  /** Of one that users sign in to themselves: how many have. */
  users?: number | undefined;
}

interface SurveyWorld {
  env: Readonly<Record<string, string | undefined>>;
  dataDir: string;
}

type ServerConfig = NonNullable<Config["mcpServers"]>[string];

/** Starting is work for the machine too. */
const atOnceMax = 4;
const listsMax = 5;

/** In the order of the configuration. Those that miss a secret are left out: they are told of elsewhere. */
export async function surveyServers(loaded: LoadedConfig, world: SurveyWorld): Promise<ServerReport[]> {
  const from = { dir: configDir(loaded), env: world.env };
  await using opened = new AsyncDisposableStack();
  const kept = keptStore(world, opened);
  let servers: readonly ServerOptions[];
  try {
    ({ servers } = treeSettings(loaded.config, { ...from, credentialsFor: keptCredentials(kept) }));
  } catch (error) {
    if (error instanceof Failure) return [];
    throw error;
  }
  const configOf = ({ name }: ServerOptions) => loaded.config.mcpServers?.[name] as ServerConfig;
  // Rooms are there where their gateway runs.
  const waiting = servers.filter(
    (one) => configOf(one).room === undefined && missingReferences(configOf(one), from).length === 0,
  );
  const reports = new Map<string, ServerReport>();
  const reportFor = async (one: ServerOptions): Promise<ServerReport> => {
    // Nobody looks at it in a user's name.
    if (one.origin.kind === "per-user") {
      const users = await countUsers(kept, one.name);
      return { ...reportOf(one.name, undefined), isElsewhere: true, users };
    }
    const absent = commandFault(configOf(one), from);
    return absent ? reportOf(one.name, absent) : await ask(one, configOf(one), rootSegmentOf(loaded.config));
  };
  const work = async () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      reports.set(one.name, await reportFor(one));
    }
  };
  await Promise.all(Array.from({ length: atOnceMax }, work));
  return servers.flatMap(({ name }) => reports.get(name) ?? []);
}

type KeptStore = () => Promise<CredentialStore | undefined>;

/** Nothing is made for a directory that has none. */
function keptStore(home: Home, opened: AsyncDisposableStack): KeptStore {
  const isThere = readStatePlace(home.dataDir) !== undefined || existsSync(join(home.dataDir, "credentials"));
  let made: Promise<CredentialStore> | undefined;
  return async () => {
    if (isThere) made ??= openLocalState(home, opened).then(({ credentials }) => credentials());
    return made;
  };
}

/** What was granted before; nobody is asked for more here. */
function keptCredentials(store: KeptStore): (server: OAuthServer) => Credentials {
  return ({ key, url, config }) =>
    createOAuthCredentials({
      key,
      url,
      config,
      store: {
        read: async (one) => (await store())?.read(one),
        write: async (one, credential) => (await store())?.write(one, credential),
        inTurn: async (one, work) => {
          const kept = await store();
          return kept === undefined ? work(undefined) : kept.inTurn(one, work);
        },
      },
    });
}

async function countUsers(store: KeptStore, server: string): Promise<number> {
  const entries = (await (await store())?.entries()) ?? [];
  return entries.filter(([key]) => readUserKey(key)?.server === server).length;
}

function reportOf(name: string, fault: ServerReport["fault"]): ServerReport {
  return { name, fault, tools: [], leftOut: [], tookMs: 0, isElsewhere: false };
}

function commandFault(
  { command, cwd = ".", env = {} }: ServerConfig,
  from: { dir: string; env: SurveyWorld["env"] },
) {
  if (command === undefined) return undefined;
  const word = fillIn(command, from);
  const path = env.PATH === undefined ? from.env.PATH : fillIn(env.PATH, from);
  const found = findCommand(word, { path, cwd: resolve(from.dir, fillIn(cwd, from)) });
  if (typeof found === "object") return undefined;
  const text = found === "missing" ? `${word} is not there or not on PATH` : `${word} may not be executed`;
  return { text, kind: "command" } as const;
}

async function ask(
  options: ServerOptions,
  config: ServerConfig,
  root: string | undefined,
): Promise<ServerReport> {
  const log = createLogger({ level: "silent" });
  const secret = new Uint8Array(32);
  const tree = createTree({
    name: "mcpx-doctor",
    version,
    servers: [options],
    clock: systemClock,
    log,
    secret,
    isBridge: true,
  });
  const beganAt = performance.now();
  try {
    const server = tree.state.configured.get(options.name)?.server;
    const listed = await list(tree, server);
    const text = server?.fault?.detail ?? server?.listFaults.get("tools");
    const { args, env, headers, url } = config;
    const secrets = secretsOf({ args, env, headers, url });
    return {
      name: options.name,
      fault:
        text === undefined
          ? undefined
          : { text: hideSecrets(text, secrets), kind: server?.fault ? "start" : "list" },
      tools: (listed?.entries ?? []).map(({ canonical, item }) => ({
        name: withRoot(root, canonical),
        item,
      })),
      leftOut: listed?.leftOut ?? [],
      tookMs: performance.now() - beganAt,
      isElsewhere: url !== undefined,
    };
  } finally {
    await tree.close();
  }
}

type ConfiguredServer = NonNullable<ReturnType<RunningTree["state"]["configured"]["get"]>>["server"];

/** Some servers say while they list that the list has changed: then it is read again. */
async function list(tree: RunningTree, server: ConfiguredServer | undefined) {
  for (let times = 0; times < listsMax; times += 1) {
    await tree.handle({
      caller: anybody,
      method: "tools/list",
      params: {},
      wantsProgress: false,
      paramHeaders: undefined,
      signal: new AbortController().signal,
      notify: () => {},
      ask: () => Promise.reject(new Error("this command cannot answer questions of a server")),
    });
    const [listed] = [...(server?.lists.values() ?? [])].flatMap(({ tools }) => tools.listed ?? []);
    if (listed !== undefined || server?.fault !== undefined || server?.listFaults.has("tools")) return listed;
  }
  return undefined;
}

const anybody = plainCaller(innerPrincipal("doctor", ["**"]), "doctor");
