// What is different in another version of the configuration: names and keys, never values, since some are secrets.
// Pure.
import { isDeepStrictEqual } from "node:util";
import { isObject } from "@mcpx/protocol";
import { cut, visible } from "../framework/visible.ts";
import type { Config } from "./config.ts";

interface NamedDiff {
  added: string[];
  removed: string[];
  /** With the keys that are different. */
  changed: Map<string, string[]>;
}

export interface ConfigDiff {
  /** Of servers that are not disabled. */
  servers: NamedDiff;
  profiles: NamedDiff;
  /** Keys of what decides which calls wait. */
  gates: string[];
  /** Keys that take effect only when the gateway is started again. */
  restart: string[];
}

type Named = Readonly<Record<string, object>>;

/** What can change while the gateway runs. */
const live = new Set(["mcpServers", "profiles"]);
const liveGates = new Set(["rules", "unannotated", "quorum"]);
const nameCharsMax = 100;

export function diffConfig(before: Config, after: Config): ConfigDiff {
  return {
    servers: diffNamed(enabled(before), enabled(after)),
    profiles: diffNamed(before.profiles ?? {}, after.profiles ?? {}),
    gates: keysThatDiffer(before.gates, after.gates).filter((key) => liveGates.has(key)),
    restart: keysThatDiffer(atStart(before), atStart(after)),
  };
}

/** What counts from the start to the end of the gateway. */
function atStart({ gates = {}, ...config }: Config): object {
  return {
    ...Object.fromEntries(Object.entries(config).filter(([key]) => !live.has(key))),
    gates: Object.fromEntries(Object.entries(gates).filter(([key]) => !liveGates.has(key))),
  };
}

/** The one that is in force once `after` was read: what needs a restart is as it was. */
export function takenOver(before: Config, after: Config): Config {
  const { mcpServers = {}, profiles = {}, gates = {} } = after;
  const kept = Object.entries(before.gates ?? {}).filter(([key]) => !liveGates.has(key));
  const fresh = Object.entries(gates).filter(([key]) => liveGates.has(key));
  return { ...before, mcpServers, profiles, gates: Object.fromEntries([...kept, ...fresh]) };
}

/** One line for each server and profile, and one for the gates: `+ files`, `- notes`, `~ github: url`, `~ gates: rules`. */
export function diffLines({ servers, profiles, gates }: Omit<ConfigDiff, "restart">): string[] {
  return [
    ...linesOf(servers, ""),
    ...linesOf(profiles, "profile "),
    ...(gates.length === 0 ? [] : [`~ gates: ${gates.join(", ")}`]),
  ];
}

function linesOf({ added, removed, changed }: NamedDiff, what: string): string[] {
  const shown = (name: string) => what + visible(cut(name, nameCharsMax));
  return [
    ...added.map((name) => `+ ${shown(name)}`),
    ...removed.map((name) => `- ${shown(name)}`),
    ...[...changed].map(([name, keys]) => `~ ${shown(name)}: ${visible(keys.join(", "))}`),
  ];
}

function enabled({ mcpServers = {} }: Config): Named {
  return Object.fromEntries(Object.entries(mcpServers).filter(([, { disabled }]) => disabled !== true));
}

function diffNamed(before: Named, after: Named): NamedDiff {
  const changed = Object.keys(after).flatMap((name): [string, string[]][] => {
    if (!Object.hasOwn(before, name)) return [];
    const keys = keysThatDiffer(before[name], after[name]);
    return keys.length === 0 ? [] : [[name, keys]];
  });
  return {
    added: Object.keys(after).filter((name) => !Object.hasOwn(before, name)),
    removed: Object.keys(before).filter((name) => !Object.hasOwn(after, name)),
    changed: new Map(changed),
  };
}

/** `url`, `env.TOKEN`: one step into what is an object on both sides. */
function keysThatDiffer(before: object = {}, after: object = {}, depth = 1): string[] {
  const [old, young] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
  return [...new Set([...old.keys(), ...young.keys()])].flatMap((key) => {
    const [was, is] = [old.get(key) as unknown, young.get(key) as unknown];
    if (isDeepStrictEqual(was, is)) return [];
    const isInside = depth > 0 && [was, is].every((value) => value === undefined || isObject(value));
    if (!isInside) return [key];
    return keysThatDiffer(was as object, is as object, depth - 1).map((inner) => `${key}.${inner}`);
  });
}
