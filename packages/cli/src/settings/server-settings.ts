// From the configuration and the command line to what the server is started with.
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { GatewayOptions, TopicOptions } from "@mcpx/gateway";
import type { ListenerOptions } from "@mcpx/host";
import { defaultLimits } from "@mcpx/protocol";
import type { Config, LoadedConfig } from "../config/config.ts";
import { Failure } from "../framework/failure.ts";
import type { StartOptions } from "../server/start-gateway.ts";
import { auditSettings } from "./audit-settings.ts";
import { bridgeSettings } from "./bridge-settings.ts";
import { loginSettings } from "./login-settings.ts";
import { defaultPush } from "./push-settings.ts";
import { configDir, type TreeWorld, treeSettings } from "./tree-settings.ts";

export const defaultHost = "127.0.0.1";
export const defaultPort = 6279;

export type ServerSettings = Pick<
  StartOptions,
  | "listen"
  | "gateway"
  | "tree"
  | "bridges"
  | "auditPush"
  | "push"
  | "issuers"
  | "limits"
  | "authorization"
  | "logins"
>;

/** `host` and `port` of the command line win over the configuration's. */
export function serverSettings(
  loaded: LoadedConfig,
  given: {
    host: string | undefined;
    port: number | undefined;
    env: Readonly<Record<string, string | undefined>>;
    credentialsFor?: TreeWorld["credentialsFor"];
    commands?: TreeWorld["commands"];
  },
): ServerSettings {
  const { config } = loaded;
  const { listen = {}, issuers = [] } = config;
  const world = { dir: configDir(loaded), env: given.env, commands: given.commands };
  return {
    listen: {
      host: given.host ?? listen.host ?? defaultHost,
      port: given.port ?? listen.port ?? defaultPort,
      tls: listen.tls && readTls(listen.tls, world.dir),
      hosts: listen.hosts,
      origins: listen.origins,
      insecure: listen.insecure,
    },
    gateway: gatewayOptions(config),
    bridges: bridgeSettings(config, world),
    auditPush: auditSettings(config, world),
    push: { ...defaultPush, ...config.push },
    tree: treeSettings(config, { ...world, credentialsFor: given.credentialsFor }),
    issuers: issuers as StartOptions["issuers"],
    logins: loginSettings(config, world),
    ...(config.authorization && { authorization: config.authorization }),
    limits: { ...defaultLimits, ...config.limits },
  };
}

function gatewayOptions(config: Config): Partial<GatewayOptions> {
  const { mode, identities, levels, topics, createTopics, takeover, presenceHeartbeat } = config;
  const { announceViolations, compat } = config;
  return {
    ...(mode !== undefined && { mode }),
    ...(identities !== undefined && { identities }),
    ...(levels !== undefined && { levels }),
    ...(topics !== undefined && { topics: topicOptions(topics) }),
    ...(createTopics !== undefined && { createTopics }),
    ...(takeover !== undefined && { takeover }),
    ...(presenceHeartbeat !== undefined && { presenceHeartbeatMs: presenceHeartbeat }),
    ...(announceViolations !== undefined && { announceViolations }),
    ...(compat && { compat: { toolsRequest: compat.toolsRequest ?? false } }),
  };
}

function topicOptions(topics: NonNullable<Config["topics"]>): Record<string, Partial<TopicOptions>> {
  const entries = Object.entries(topics).map(([name, { history, retention, toolAccess }]) => {
    const { age, ...counted } = retention ?? {};
    const kept = { ...counted, ...(age !== undefined && { ageMs: age }) };
    const bounds = { ...(history !== undefined && { history }), ...(retention && { retention: kept }) };
    return [name, { ...bounds, ...(toolAccess && { toolAccess }) }];
  });
  return Object.fromEntries(entries) as Record<string, Partial<TopicOptions>>;
}

/** Paths are relative to the configuration that names them. */
function readTls(
  { cert, key, minVersion, clientCa }: NonNullable<NonNullable<Config["listen"]>["tls"]>,
  dir: string,
): ListenerOptions["tls"] {
  return {
    cert: readPem(dir, cert, "cert"),
    key: readPem(dir, key, "key"),
    minVersion,
    clientCa: clientCa === undefined ? undefined : readAuthority(dir, clientCa),
  };
}

function readAuthority(dir: string, file: string): string {
  const pem = readPem(dir, file, "clientCa");
  if (isCertificate(pem)) return pem;
  throw new Failure(
    `listen.tls.clientCa: ${resolve(dir, file)} has no certificate in it`,
    "give the ca.pem that mcpx cert ca has made",
  );
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

function readPem(dir: string, file: string, name: string): string {
  const path = resolve(dir, file);
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Failure(`listen.tls.${name}: ${path} cannot be read (${code})`, "give the path of a PEM file");
  }
}
