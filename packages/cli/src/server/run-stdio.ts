// What `mcpx stdio` does: the running gateway's tree, or the configuration's own, for one client.
import { randomUUID } from "node:crypto";
import {
  type ApproverStore,
  createTree,
  innerPrincipal,
  openLink,
  type RunningTree,
  type ServerOptions,
  serveStdio,
  type TreeStores,
} from "@mcpx/aggregator";
import { createLogger, type Logger, type Principal, systemClock } from "@mcpx/host";
import { defaultLimits } from "@mcpx/protocol";
import { settleEnrolled } from "../access/approvers.ts";
import { holdConfig, withChain } from "../access/authority.ts";
import { accessGateway, hasGateway } from "../access/gateway-access.ts";
import { gatewayCredentials } from "../access/gateway-link.ts";
import { localUrl } from "../access/local-url.ts";
import type { StdioContext } from "../commands/tree/stdio.ts";
import { type Config, type LoadedConfig, loadConfig } from "../config/config.ts";
import { waitingText } from "../config/trust-words.ts";
import { homeOf, makeDataDir } from "../files/data-dir.ts";
import { type LocalStore, localUser, withStore } from "../files/local-store.ts";
import { settleStore } from "../files/open-store.ts";
import { createSecretCommands } from "../files/secret-commands.ts";
import type { Home } from "../files/state-place.ts";
import { misuse } from "../framework/failure.ts";
import { version } from "../framework/version.ts";
import { defaultHost, defaultPort } from "../settings/server-settings.ts";
import { storeWish } from "../settings/store-settings.ts";
import { configDir, treeSettings } from "../settings/tree-settings.ts";
import { oauthIn } from "./oauth.ts";
import { openGates } from "./open-gates.ts";

export async function runStdio(context: StdioContext): Promise<number> {
  const { options } = context;
  const { names } = options;
  // Standard output is the client's.
  const log = createLogger({ level: "warn" });
  if (hasGateway(context)) {
    await serve(context, bridgeTo(context, log), log, names);
    return 0;
  }
  const home = homeOf(context, options);
  const loaded = ownConfig(context, home);
  makeDataDir(home.dataDir);
  await settleStore(home, storeWish(loaded));
  await withStore(home, { mayCreate: true }, async (store) => {
    await using opened = new AsyncDisposableStack();
    const [stores, enrolled] = [await store.tree(), await store.approvers()];
    const served = await ownTree(context, { ...store, home, loaded, stores, enrolled, log }, opened);
    await serve(context, served, log, names);
  });
  return 0;
}

async function serve(
  context: StdioContext,
  { tree, profile }: Served,
  log: Logger,
  names: StdioContext["options"]["names"],
): Promise<void> {
  const interrupted = context.interrupted();
  const endpoint = serveStdio(tree, localPrincipal(), {
    input: process.stdin,
    output: process.stdout,
    log,
    clock: systemClock,
    limits: defaultLimits,
    names,
    profile,
  });
  interrupted.addEventListener("abort", () => endpoint.close(), { once: true });
  try {
    await endpoint.closed;
  } finally {
    await tree.close();
  }
}

interface Served {
  tree: RunningTree;
  profile: Parameters<typeof serveStdio>[2]["profile"];
}

/** Everything the gateway has, as it has it. */
function bridgeTo(context: StdioContext, log: Logger): Served {
  const { profile } = context.options;
  const access = accessGateway(context, { sub: `stdio:${localUser()}`, topics: [], tools: ["**"] });
  const credentials = gatewayCredentials(access);
  // Names are made fit for the client here, at its endpoint.
  const path = `/mcp${profile === undefined ? "" : `/${encodeURIComponent(profile)}`}?names=canonical`;
  const gateway: ServerOptions = {
    name: "the gateway",
    segment: undefined,
    origin: { kind: "configured" },
    isTrusted: true,
    // Both are the gateway's own business.
    callMs: 0,
    listMs: 60_000,
    async open(opening, taker) {
      const { url } = await access.enter();
      const transport = { type: "http", url: `${url}${path}`, credentials } as const;
      return openLink({ name: "the gateway", transport, ...opening }, taker);
    },
  };
  const secret = Buffer.from(randomUUID());
  const tree = createTree({
    name: "mcpx",
    version,
    servers: [gateway],
    clock: systemClock,
    log,
    secret,
    isBridge: true,
  });
  return { tree, profile: undefined };
}

interface OwnParts extends LocalStore {
  home: Home;
  loaded: LoadedConfig;
  stores: TreeStores;
  enrolled: ApproverStore;
  log: Logger;
}

const nobodyDecides =
  "No gateway is running there yet: your user has to start it first with `mcpx up`, and can then decide at that address or with `mcpx approve`.";

function ownConfig({ options, cwd }: StdioContext, { dataDir }: Home): LoadedConfig {
  const { config: given, trusted } = options;
  if (given === undefined || trusted === undefined) return loadConfig({ given, trusted, cwd, dataDir });
  throw misuse("--config and --trusted cannot be combined", "use only one of them");
}

/** The gateway's address once it runs. */
function gatewayUrl({ listen = {} }: Config): string {
  const { host = defaultHost, port = defaultPort, tls, hosts } = listen;
  const name = host.includes(":") ? `[${host}]` : host;
  const scheme = tls === undefined ? "http" : "https";
  return localUrl(`${scheme}://${name}:${port}`, { hosts, tls: tls && { cert: "", key: "" } });
}

/** The configuration's servers, started by this process and ended with it. */
async function ownTree(
  context: StdioContext,
  { identity, audit, home, loaded: written, stores, enrolled: approvers, log }: OwnParts,
  opened: AsyncDisposableStack,
): Promise<Served> {
  const { options, env } = context;
  const { dataDir } = home;
  const { loaded, held } = await withChain(home, { mayCreate: true }, async ({ chain }) => {
    await settleEnrolled(chain, approvers);
    return holdConfig(chain, written);
  });
  if (held.length > 0) {
    log.warn(
      { waiting: held.map(({ key }) => key) },
      "some of the configuration waits for an approver's signature",
    );
  }
  if (loaded.path !== undefined && loaded.accepted === "waiting") {
    log.warn({ config: loaded.path }, waitingText(loaded.path, dataDir));
  }
  const commands = createSecretCommands({ env });
  await commands.prepare(loaded.config);
  const settings = treeSettings(loaded.config, {
    ...{ dir: configDir(loaded), env, commands },
    credentialsFor: oauthIn(home, log, opened),
    user: localPrincipal().id,
  });
  const { servers, profiles, segment, rootSegment, isPinned, ax } = settings;
  const profile = profiles.find(({ name }) => name === options.profile);
  if (options.profile !== undefined && profile === undefined) {
    throw misuse(`there is no profile ${options.profile}`, "see profiles in mcpx.json");
  }
  const secret = identity.secret("tree");
  await stores.facts.rootSince(rootSegment, systemClock.now());
  const { isRevoked } = identity.revocations;
  const facts = { dataDir, stores, approvers, audit, clock: systemClock, log };
  const parts = { ...facts, rootSegment, isAlone: false, isRevoked };
  const url = () => gatewayUrl(loaded.config);
  const { gates } = await openGates(settings.gates, { ...parts, url, obstacle: nobodyDecides }, opened);
  const tree = createTree({
    name: "mcpx",
    version,
    segment,
    hasParents: ax.parents.length > 0,
    servers,
    profiles,
    clock: systemClock,
    log,
    audit,
    pins: isPinned ? stores.pins : undefined,
    secret,
    gates,
  });
  return { tree, profile };
}

/** The user who starts this process owns the servers it starts; a gateway decides by itself what this process may do. */
function localPrincipal(): Principal {
  return innerPrincipal(`stdio:${localUser()}`, ["**"]);
}
