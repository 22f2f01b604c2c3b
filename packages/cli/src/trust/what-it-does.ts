// What a configuration would do on this machine, for a person who decides whether it may: every program it starts and
// every address it reaches, to the letter, and what it makes weaker. Pure.
import { resolve } from "node:path";
import { defaultLimits } from "@mcpx/protocol";
import type { Config } from "../config/config-schema.ts";
import { shownUrl, shownVariable } from "../framework/secrets.ts";

export interface ConfigEffects {
  starts: StartedServer[];
  reaches: ReachedServer[];
  /** A line for each setting that gives away more than the default does. */
  weakens: string[];
  /** Variables of the environment whose values it is given. */
  variables: string[];
  /** Files whose content it is given. */
  files: string[];
  /** Programs that are run for what they print. */
  commands: string[];
  /** The other keys of the configuration. */
  sets: string[];
}

interface StartedServer {
  name: string;
  /** Whole: what looks like a secret there may be what it does. */
  words: string[];
  cwd: string;
  env: string[];
  isOff: boolean;
}

interface ReachedServer {
  name: string;
  url: string;
  headers: string[];
  isOff: boolean;
}

type ServerConfig = NonNullable<Config["mcpServers"]>[string];

/** `dir` is where its relative paths begin. */
export function effectsOf(config: Config, dir: string): ConfigEffects {
  const servers = Object.entries(config.mcpServers ?? {});
  const { variables, files, commands } = referencesIn(config);
  return {
    starts: servers.flatMap(([name, server]) => started(name, server, dir)),
    reaches: [
      ...servers.flatMap(([name, server]) => reached(name, server)),
      ...servers.flatMap(([name, server]) => signInAddress(name, server)),
      ...(config.parents ?? []).flatMap(parentAddresses),
      ...(config.issuers ?? []).flatMap(keyAddress),
      ...Object.entries(config.devices ?? {}).map(([name, { line, disabled }]) => ({
        ...{ name: `device ${name}`, url: line, headers: [], isOff: disabled === true },
      })),
      ...Object.entries(config.bridges ?? {}).map(([name, { service, url, channels, disabled }]) => ({
        name: `bridge ${name}`,
        url: shownUrl(service ?? url ?? ""),
        headers: Object.entries(channels).map(([channel, room]) => `carries ${room} to ${channel}`),
        isOff: disabled === true,
      })),
      ...toldOthers(config),
    ],
    weakens: [
      ...servers.flatMap(([name, server]) => weakenedBy(name, server)),
      ...weakenedGates(config),
      ...weakenedEndpoints(config),
    ],
    variables,
    files,
    commands,
    sets: Object.keys(config).filter((key) => !shownAbove.includes(key)),
  };
}

/** Keys that are described above, and not named again among the others. */
const shownAbove = ["mcpServers", "parents", "devices", "bridges", "scanners", "audit"];

/** Who is sent every audit record, and who sees results of tools and may change them. */
function toldOthers({ audit = {}, scanners = {} }: Config): ReachedServer[] {
  return [
    ...Object.entries(audit.push ?? {}).map(([name, { url, headers = {}, disabled }]) => ({
      ...{ name: `audit records to ${name}`, url: shownUrl(url), headers: shownPairs(headers) },
      isOff: disabled === true,
    })),
    ...Object.entries(scanners).map(([name, { url, server, tools = ["**"], headers = {}, disabled }]) => ({
      name: `results to scanner ${name}`,
      url: url === undefined ? `the server ${server}` : shownUrl(url),
      headers: [`sees and may change what ${tools.join(" ")} gives`, ...shownPairs(headers)],
      isOff: disabled === true,
    })),
  ];
}

function started(name: string, server: ServerConfig, dir: string): StartedServer[] {
  const { command, args = [], cwd = ".", env = {}, disabled } = server;
  if (command === undefined) return [];
  const words = [command, ...args];
  return [{ name, words, cwd: resolve(dir, cwd), env: shownPairs(env), isOff: disabled === true }];
}

function reached(name: string, { url, headers = {}, disabled }: ServerConfig): ReachedServer[] {
  if (url === undefined) return [];
  return [{ name, url: shownUrl(url), headers: shownPairs(headers), isOff: disabled === true }];
}

function signInAddress(name: string, { oauth, disabled }: ServerConfig): ReachedServer[] {
  if (oauth?.issuer === undefined) return [];
  return [{ name: `sign-in of ${name}`, url: shownUrl(oauth.issuer), headers: [], isOff: disabled === true }];
}

function keyAddress({ issuer, jwksUri }: NonNullable<Config["issuers"]>[number]): ReachedServer[] {
  if (jwksUri === undefined) return [];
  return [{ name: `keys of ${issuer}`, url: shownUrl(jwksUri), headers: [], isOff: false }];
}

function parentAddresses({ url, backups = [], token }: NonNullable<Config["parents"]>[number]) {
  const headers = token === undefined ? [] : shownPairs({ token });
  return [url, ...backups].map((one) => ({ name: "tree above", url: shownUrl(one), headers, isOff: false }));
}

/** Which variables say what code is run nobody can list: `HOME` does. */
function shownPairs(pairs: Readonly<Record<string, string>>): string[] {
  return Object.entries(pairs).map(([name, value]) => shownVariable(name, value));
}

function weakenedBy(name: string, server: ServerConfig): string[] {
  const at = `mcpServers.${name}`;
  const tools = Object.entries(server.tools ?? {});
  return [
    ...(server.trusted === true ? [`${at}.trusted: what the server says of its tools is believed`] : []),
    ...(server.unannotated === "allow"
      ? [`${at}.unannotated: tools without annotations pass every gate`]
      : []),
    ...(server.pin === false ? [`${at}.pin: its tools may change without being quarantined`] : []),
    ...tools.flatMap(([tool, { capability }]) =>
      capability === undefined
        ? []
        : [
            `${at}.tools.${tool}.capability: ${JSON.stringify(capability)} is used instead of the server's annotation`,
          ],
    ),
  ];
}

function weakenedGates({ gates = {}, pins }: Config): string[] {
  const { rules = [], unannotated, anchors = [], quorum } = gates;
  return [
    ...(unannotated === "allow" ? ["gates.unannotated: tools without annotations pass every gate"] : []),
    ...rules.flatMap(({ tools, action, where }) =>
      action === "allow"
        ? [`gates.rules: ${tools}${where ? ` where ${JSON.stringify(where)}` : ""} is called without asking`]
        : [],
    ),
    ...anchors.map(({ name, issuer }) => `gates.anchors: ${name ?? issuer} may approve calls`),
    ...(quorum === undefined ? [] : [`gates.quorum: ${quorum} must approve`]),
    ...(pins === false ? ["pins: tools may change without being quarantined"] : []),
  ];
}

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/;

function weakenedEndpoints(config: Config): string[] {
  const {
    listen = {},
    mode,
    issuers = [],
    identities = {},
    levels,
    subservers = {},
    topics = {},
    limits = {},
    bridges = {},
  } = config;
  const { host, hosts = [], insecure, origins = [] } = listen;
  return [
    ...(host === undefined || loopback.test(host) ? [] : [`listen.host: others reach it at ${host}`]),
    ...(insecure === true ? ["listen.insecure: tokens travel where others can read them"] : []),
    ...hosts.map((name) => `listen.hosts: it answers to ${name}, whichever address that name has`),
    ...origins.map((origin) => `listen.origins: pages of ${origin} may talk to it`),
    ...(mode === "open" ? ["mode: nobody has to prove who they are"] : []),
    ...Object.entries(bridges).flatMap(([name, { unlinked }]) =>
      unlinked === "guest"
        ? [`bridges.${name}.unlinked: everybody in its channels may speak in its rooms`]
        : [],
    ),
    ...issuers.map(({ issuer, admin }) => `issuers: tokens of ${issuer} count${admin ? ", as admins'" : ""}`),
    ...Object.entries(identities).map(([id, { level }]) => `identities: ${id} has the level ${level}`),
    ...(levels === undefined ? [] : [`levels: ${JSON.stringify(levels)}`]),
    ...Object.entries(subservers).flatMap(([segment, { trusted, development, scope, authority }]) =>
      trusted === true || development === true || scope === "admin" || authority !== undefined
        ? [`subservers.${segment}: ${JSON.stringify({ trusted, development, scope, authority })}`]
        : [],
    ),
    ...Object.entries(topics).flatMap(([topic, { toolAccess, tree }]) => [
      ...(toolAccess === "off" ? [`topics.${topic}.toolAccess: every member may call every tool`] : []),
      ...(tree === true ? [`topics.${topic}.tree: what members call there everybody in the room reads`] : []),
    ]),
    ...Object.entries(limits).flatMap(([name, value]) => {
      const usual = defaultLimits[name as keyof typeof defaultLimits];
      return value !== undefined && value > usual ? [`limits.${name}: ${value} instead of ${usual}`] : [];
    }),
  ];
}

/** Anywhere in it. */
function referencesIn(config: Config): Pick<ConfigEffects, "variables" | "files" | "commands"> {
  // As they are filled in: from `${` to the next brace.
  const references = JSON.stringify(config)
    .split("${")
    .slice(1)
    .flatMap((part) => (part.includes("}") ? part.slice(0, part.indexOf("}")) : []));
  const named = (kind: string) => [
    ...new Set(references.flatMap((one) => (one.startsWith(kind) ? one.slice(kind.length) : []))),
  ];
  return { variables: named("env:"), files: named("file:"), commands: named("cmd:") };
}
