// Changes servers, tools and rules in `mcpx.json`: the file `mcpx up` would read, its comments kept, never left in a state that
// would not start.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { segmentFor } from "@mcpx/aggregator";
import { isObject } from "@mcpx/protocol";
import { acceptedFile, acceptFile, sha256Of } from "../config/accepted-files.ts";
import { type Config, type LoadedConfig, loadConfig, parseConfig } from "../config/config.ts";
import { isOwn } from "../config/find-config.ts";
import { trustCommand } from "../config/trust-words.ts";
import { dataDirOf, makeDataDir } from "../files/data-dir.ts";
import { backUp, type ReadFile, readWhole, replaceFile } from "../files/replace-file.ts";
import { commandsIn, wordsOf } from "../files/secret-commands.ts";
import type { Surroundings } from "../framework/command.ts";
import { Failure } from "../framework/failure.ts";
import { secretsIn, secretsOf } from "../framework/secrets.ts";
import { removeProperty, setItems, setProperty } from "./edit-json.ts";

/** What gates do with tools that do not say how dangerous they are. */
export type Unannotated = "ask" | "allow";
export type ServerEra = "auto" | "legacy" | "modern";

/** A server as it is written down. */
export interface ServerEntry {
  command?: string;
  args?: string[];
  env?: Record<string, string>;
  cwd?: string;
  url?: string;
  headers?: Record<string, string>;
  type?: "stdio" | "http" | "sse";
  disabled?: boolean;
  segment?: string;
  root?: boolean;
  trusted?: boolean;
  unannotated?: Unannotated;
  era?: ServerEra;
  timeout?: string;
  oauth?: { per?: "server" | "user" };
}

export interface ConfigFile {
  path: string;
  dataDir: string;
  /** What is there now; `undefined` where there is no file yet. */
  before: ReadFile | undefined;
  config: Config;
  /** Where it counts because it was accepted. */
  accepted: LoadedConfig["accepted"];
}

export interface SavedConfig {
  backup: string | undefined;
  /** Whether others could read it before, and cannot now. */
  isClosed: boolean;
}

type Place = Pick<Surroundings, "env" | "cwd"> & {
  options: { config: string | undefined; data: string | undefined };
  /** That file and no other, as it was accepted. */
  trusted?: string | undefined;
};

/** Where there is none it would be made in the data directory, or where `--config` says. */
export function lookAtConfig(context: Place): ConfigFile {
  const { cwd, options, trusted } = context;
  const dataDir = dataDirOf(context, options);
  const given = options.config === undefined ? undefined : resolve(cwd, options.config);
  const isMissing = given !== undefined && !existsSync(given);
  const loaded = isMissing ? undefined : loadConfig({ given, cwd, dataDir, trusted });
  const path = loaded?.path ?? given ?? join(dataDir, "mcpx.json");
  const config = loaded?.config ?? {};
  return { path, dataDir, before: readWhole(path), config, accepted: loaded?.accepted };
}

/** To be edited. An edit by hand that waits would come into force with ours, so it has to be looked at first. */
export function openConfig(context: Place): ConfigFile {
  const file = lookAtConfig(context);
  if (file.accepted !== "waiting") return file;
  throw new Failure(
    `nothing was written: ${file.path} has changed since it was accepted`,
    `first look at that change and accept it with \`${trustCommand(file.path, file.dataDir)}\``,
  );
}

/** What stands first in the names of its tools; `undefined` where a parent puts it there. */
export function rootSegmentOf({ segment, parents = [] }: Config): string | undefined {
  return parents.length > 0 ? undefined : segment;
}

/** The names of its servers, each with the segment it stands at; the root's is the empty text. */
export function segmentsOf({ mcpServers = {} }: Config): Map<string, string> {
  return new Map(
    Object.entries(mcpServers).map(([name, { root, segment }]) => [
      name,
      root === true ? "" : (segment ?? segmentFor(name)),
    ]),
  );
}

/** The text with these servers in it, checked; others of the same names are replaced. */
export function withServers({ path, before }: ConfigFile, servers: ReadonlyMap<string, ServerEntry>): string {
  for (const [name, entry] of servers) checkNoCommand({ before }, name, entry);
  let text = before?.text ?? "";
  for (const [name, entry] of servers) text = setProperty(text, ["mcpServers", name], entry, path);
  return checked(text, path);
}

export function withoutServer({ path, before }: ConfigFile, name: string): string {
  return checked(removeProperty(before?.text ?? "", ["mcpServers", name]), path);
}

/** The text with that bridge, or without it where the entry is `undefined`; checked. */
export function withBridge({ path, before }: ConfigFile, name: string, entry: object | undefined): string {
  checkNoCommand({ before }, name, entry);
  const text = before?.text ?? "";
  const place = ["bridges", name];
  return checked(
    entry === undefined ? removeProperty(text, place) : setProperty(text, place, entry, path),
    path,
  );
}

/** The text with one value of a server changed, or without it where it is `undefined`; checked. */
export function withServerValue(
  { path, before }: ConfigFile,
  server: string,
  key: readonly string[],
  value: unknown,
): string {
  checkNoCommand({ before }, server, { value });
  const place = ["mcpServers", server, ...key];
  const text = before?.text ?? "";
  return checked(
    value === undefined ? removeProperty(text, place) : setProperty(text, place, value, path),
    path,
  );
}

/** The same; what says nothing any more goes as a whole. */
export function withoutServerValue(file: ConfigFile, server: string, key: readonly string[]): string {
  return withServerValue(file, server, whatEmpties(file.config.mcpServers?.[server], key), undefined);
}

/** The text with one value of a tool changed; what says nothing any more goes as a whole. Checked. */
export function withToolValue(
  file: ConfigFile,
  place: { server: string; tool: string },
  key: readonly string[],
  value: unknown,
): string {
  const path = ["tools", place.tool, ...key];
  const kept = value === undefined ? whatEmpties(file.config.mcpServers?.[place.server], path) : path;
  return withServerValue(file, place.server, kept, value);
}

function whatEmpties(root: unknown, path: readonly string[]): readonly string[] {
  const holders = path.map((_, depth) => path.slice(0, depth).reduce(propertyOf, root));
  let depth = path.length;
  while (depth > 1 && Object.keys(holders[depth - 1] ?? {}).length === 1) depth -= 1;
  return path.slice(0, depth);
}

function propertyOf(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** The text with these rules of the gates, checked; those that are there already keep their text and comments. */
export function withRules({ path, before, config }: ConfigFile, rules: readonly object[]): string {
  const left = new Map((config.gates?.rules ?? []).entries());
  const items = rules.map((rule) => {
    const [index] = [...left].find(([, known]) => isDeepStrictEqual(known, rule)) ?? [];
    if (index === undefined) return rule;
    left.delete(index);
    return index;
  });
  return checked(setItems(before?.text ?? "", ["gates", "rules"], items, path), path);
}

/** What comes from other files and from pages shall run no program for a secret. */
function checkNoCommand(
  { before }: Pick<ConfigFile, "before">,
  name: string,
  entry: object | undefined,
): void {
  const written = new Set(commandsIn(before?.text));
  const command = commandsIn(entry).find((one) => !written.has(one));
  if (command === undefined) return;
  throw new Failure(
    `nothing was written: ${name} would run ${wordsOf(command)[0]} for a secret`,
    "where that is right, write ${cmd:…} into mcpx.json by hand",
  );
}

/** Writes what was checked. A file that holds secrets is its owner's alone. */
export function saveConfig(file: ConfigFile, text: string, now: Date): SavedConfig {
  const { path, dataDir, before } = file;
  if (before === undefined && path.startsWith(dataDir)) makeDataDir(dataDir);
  const holdsSecrets = shownSecrets(parseConfig(text, path)).length > 0;
  const mode = before === undefined || holdsSecrets ? (before?.mode ?? 0o600) & 0o600 : before.mode;
  const backup = before === undefined ? undefined : backUp(path, { ...before, mode }, now);
  const whole = `${before?.bom ?? ""}${text}`;
  replaceFile(path, whole, mode, before);
  if (isAcceptedNow(file)) acceptFile(dataDir, path, whole, now);
  return { backup, isClosed: before !== undefined && mode !== before.mode };
}

/** Our own edit of what was accepted, or a file that is all our own, waits for nobody. */
function isAcceptedNow({ path, dataDir, before }: ConfigFile): boolean {
  if (isOwn(path, { dataDir })) return false;
  if (before === undefined) return true;
  return acceptedFile(dataDir, path)?.sha256 === sha256Of(`${before.bom}${before.text}`);
}

/** Every value of the servers and bridges in a text that must not be shown. */
export function shownSecrets({ mcpServers = {}, bridges = {} }: Config): string[] {
  return [
    ...Object.values(mcpServers).flatMap(serverSecrets),
    ...Object.values(bridges).flatMap(bridgeSecrets),
  ];
}

/** What only refers to a variable or a file is none. */
function bridgeSecrets(bridge: NonNullable<Config["bridges"]>[string]): string[] {
  const { password, secret, token, appToken, hsToken } = bridge;
  return [password, secret, token, appToken, hsToken].filter(
    (one) => one !== undefined && !one.includes("${"),
  ) as string[];
}

type ReadServer = NonNullable<Config["mcpServers"]>[string];

function serverSecrets({ args, env, headers, url, tools = {} }: ReadServer): string[] {
  const fixed = Object.values(tools).flatMap((tool) => secretsIn(tool.arguments));
  return [...secretsOf({ args, env, headers, url }), ...fixed];
}

function checked(text: string, path: string): string {
  let config: Config;
  try {
    config = parseConfig(text, path);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { message, details } = error;
    throw new Failure(`nothing was written, it would be wrong: ${message}`, undefined, { details });
  }
  const holders = new Map([["mcpax", "mcpx itself"]]);
  const root = rootSegmentOf(config);
  if (root !== undefined) holders.set(root, "this tree itself");
  for (const [name, segment] of segmentsOf(config)) {
    const holder = holders.get(segment);
    if (holder !== undefined) {
      const place = segment === "" ? "the root" : `the segment ${segment}`;
      throw new Failure(
        `nothing was written: ${place} belongs to ${holder}`,
        "give another with --segment NAME",
      );
    }
    holders.set(segment, name);
  }
  return text;
}
