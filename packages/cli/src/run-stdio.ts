// What `mcpx stdio` does: the running gateway's tree, or the configuration's own, for one client.
import { randomUUID } from "node:crypto";
import {
  createTree,
  openLink,
  type PinStore,
  type RunningTree,
  type ServerOptions,
  serveStdio,
} from "@mcpx/aggregator";
import { createLogger, type Logger, type Principal, systemClock } from "@mcpx/host";
import { defaultLimits } from "@mcpx/protocol";
import type { StdioContext } from "./commands/stdio.ts";
import { loadConfig } from "./config.ts";
import { dataDirOf } from "./data-dir.ts";
import { misuse } from "./failure.ts";
import { accessGateway, hasGateway } from "./gateway-access.ts";
import { gatewayCredentials } from "./gateway-link.ts";
import { type LocalStore, localUser, withStore } from "./local-store.ts";
import { oauthIn } from "./oauth.ts";
import { openPins } from "./open-pins.ts";
import { configDir, treeSettings } from "./tree-settings.ts";
import { version } from "./version.ts";

const dialects = ["canonical", "safe", "strict"] as const;

export async function runStdio(context: StdioContext): Promise<number> {
  const { options } = context;
  const names = dialects.find((dialect) => dialect === options.names);
  if (options.names !== undefined && names === undefined) {
    throw misuse(`--names ${options.names} is not one`, `use ${dialects.join(", ")}`);
  }
  // Standard output is the client's.
  const log = createLogger({ level: "warn" });
  if (hasGateway(context)) {
    await serve(context, bridgeTo(context, log), log, names);
    return 0;
  }
  const dataDir = dataDirOf(context, options);
  await withStore(dataDir, { mayCreate: true }, async (store) => {
    const { pins, close } = openPins(dataDir);
    try {
      await serve(context, ownTree(context, dataDir, { ...store, pins }, log), log, names);
    } finally {
      close();
    }
  });
  return 0;
}

async function serve(
  context: StdioContext,
  { tree, profile }: Served,
  log: Logger,
  names: (typeof dialects)[number] | undefined,
): Promise<void> {
  const interrupted = context.interrupted();
  const door = serveStdio(tree, localPrincipal(), {
    input: process.stdin,
    output: process.stdout,
    log,
    clock: systemClock,
    limits: defaultLimits,
    names,
    profile,
  });
  interrupted.addEventListener("abort", () => door.close(), { once: true });
  try {
    await door.closed;
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
  // Names are made fit for the client here, at its door.
  const path = `/mcp${profile === undefined ? "" : `/${encodeURIComponent(profile)}`}?names=canonical`;
  const gateway: ServerOptions = {
    name: "the gateway",
    segment: undefined,
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

/** The configuration's servers, started by ourselves and ended with us. */
function ownTree(
  context: StdioContext,
  dataDir: string,
  { identity, audit, pins }: LocalStore & { pins: PinStore },
  log: Logger,
): Served {
  const { options, cwd, env } = context;
  const loaded = loadConfig({ given: options.config, cwd, dataDir });
  const { servers, profiles, segment, isPinned } = treeSettings(loaded.config, {
    dir: configDir(loaded),
    env,
    credentialsFor: oauthIn(dataDir, log),
  });
  const profile = profiles.find(({ name }) => name === options.profile);
  if (options.profile !== undefined && profile === undefined) {
    throw misuse(`there is no profile ${options.profile}`, "see profiles in mcpx.json");
  }
  const secret = identity.secret("tree");
  const tree = createTree({
    name: "mcpx",
    version,
    segment,
    servers,
    clock: systemClock,
    log,
    audit,
    pins: isPinned ? pins : undefined,
    secret,
  });
  return { tree, profile };
}

/** Whoever may start us owns what we start; what a gateway lets us do is its own decision. */
function localPrincipal(): Principal {
  return {
    id: `stdio:${localUser()}`,
    topics: [],
    levelMax: "full",
    tools: ["**"],
    admin: false,
    expiresAt: Number.POSITIVE_INFINITY,
    jti: randomUUID(),
    issuer: "local",
    tokenHash: "",
  };
}
