// From what a server lists to entries of the tree. Nothing is dropped silently: what cannot be listed is named. Pure.
import {
  annotationCharsMax,
  believedKey,
  capabilityKey,
  capabilityOf,
  describesDanger,
  fitsScope,
  isObject,
  type JsonObject,
  withRoot,
} from "@mcpx/protocol";
import type { ListKind } from "../mcp/list-kinds.ts";
import { aliasNames } from "../names/alias-names.ts";
import { nameCharsMax } from "../names/segment.ts";
import { prefixUri } from "../names/uris.ts";
import { isTree, type Server } from "../servers/server.ts";
import { registeredOf } from "../servers/server-origin.ts";
import type { Entry } from "./catalogue.ts";
import { isEnabled, overrideFaults, renamed } from "./overrides.ts";

const nameKeys = { tools: "name", prompts: "name", resources: "uri", templates: "uriTemplate" } as const;

export interface ReadEntries {
  /** As the server lists them, under the names the operator wants. */
  entries: Entry[];
  /** Those the operator does not want, under the names they would have. */
  disabled: Entry[];
  leftOut: string[];
  overrideFaults: string[];
}

export function readEntries(
  server: Server,
  kind: ListKind,
  items: readonly JsonObject[],
  rootSegment?: string | undefined,
): ReadEntries {
  const leftOut: string[] = [];
  const named = new Map<string, JsonObject>();
  for (const item of items) {
    const name = item[nameKeys[kind]];
    if (typeof name !== "string" || name === "") leftOut.push(`an entry without a ${nameKeys[kind]}`);
    else if (named.has(name)) leftOut.push(`${name.slice(0, 100)}: listed twice; the first is used`);
    else named.set(name, item);
  }
  const entries: Entry[] = [];
  const disabled: Entry[] = [];
  const places = kind === "tools" ? toolPlaces(server, named, leftOut) : placesOf(server, kind, named.keys());
  for (const [name, { canonical, isRenamed }] of places) {
    const item = named.get(name) as JsonObject;
    const fullName = isNamed(kind) ? withRoot(rootSegment, canonical) : canonical;
    // [AX-4.1-2]
    if (isNamed(kind) && fullName.length > nameCharsMax) {
      leftOut.push(`${name.slice(0, 100)}: with its prefix longer than ${nameCharsMax}`);
      continue;
    }
    const isTool = kind === "tools";
    const fault = isTool ? misfit(server, name, item) : undefined;
    if (fault !== undefined) {
      leftOut.push(`${name.slice(0, 100)}: ${fault}`);
      continue;
    }
    const capability = isTool ? capabilityOf(item, server.isTrusted) : undefined;
    const entry = { server, name, canonical, fullName, item, capability, fixed: undefined, isRenamed };
    (isTool && !isEnabled(server, name) ? disabled : entries).push(entry);
  }
  entries.sort((a, b) => (a.canonical < b.canonical ? -1 : 1));
  const faults = kind === "tools" ? overrideFaults(server, named) : [];
  return { entries, disabled, leftOut, overrideFaults: faults };
}

/** Why a tool cannot be listed. */
function misfit(server: Server, name: string, item: JsonObject): string | undefined {
  const registered = registeredOf(server);
  // Only trees have names with parts. [AX-4.3-1] [AX-10.3-1]
  if (registered?.isTree === false && name.includes(".")) return "its name has a dot";
  const meta = isObject(item._meta) ? item._meta : {};
  for (const key of [capabilityKey, believedKey])
    if ((JSON.stringify(meta[key])?.length ?? 0) > annotationCharsMax)
      return `its ${key} is longer than ${annotationCharsMax} characters`;
  // What says nothing of its danger does not say that it writes either: it is listed, and stops at a gate. [AX-10.2-2]
  if (registered === undefined || !describesDanger(item)) return undefined;
  return fitsScope(capabilityOf(item, true), registered.scope)
    ? undefined
    : `it needs a higher scope than ${registered.scope}, the scope of its registration`;
}

interface Place {
  canonical: string;
  isRenamed: boolean;
}

function placesOf(server: Server, kind: ListKind, names: Iterable<string>): Map<string, Place> {
  const { segment } = server;
  const places = new Map<string, Place>();
  if (!isNamed(kind)) {
    for (const uri of names) places.set(uri, { canonical: prefixUri(segment, uri), isRenamed: false });
    return places;
  }
  const prefix = segment === undefined ? "" : `${segment}.`;
  // What stands at the root may be dotted: another tree's names, for one.
  const isDotted = segment === undefined || server.origin.kind === "room" || isTree(server);
  const aliases = aliasNames(names, isDotted);
  for (const [name, alias] of aliases) places.set(name, { canonical: prefix + alias, isRenamed: false });
  return places;
}

/**
 * With the operator's names. All others are named as if there were none of those, disabled tools included: no tool
 * comes to another's name, and its permissions, because that one was renamed or disabled.
 */
function toolPlaces(
  server: Server,
  named: ReadonlyMap<string, JsonObject>,
  leftOut: string[],
): Map<string, Place> {
  const places = placesOf(server, "tools", named.keys());
  if (server.overrides === undefined) return places;
  const wishes = [...named.keys()].flatMap((name) => {
    const wished = renamed(server, name);
    return wished === undefined ? [] : [{ name, wished }];
  });
  const prefix = server.segment === undefined ? "" : `${server.segment}.`;
  const moving = new Set(wishes.map(({ name }) => name));
  const taken = new Set(
    [...places]
      .filter(([name]) => !moving.has(name) && isEnabled(server, name))
      .map(([, one]) => one.canonical),
  );
  for (const { name, wished } of wishes) {
    const canonical = prefix + wished;
    if (taken.has(canonical)) {
      places.delete(name);
      leftOut.push(`${name.slice(0, 100)}: another tool is called ${wished}`);
    } else places.set(name, { canonical, isRenamed: true });
    taken.add(canonical);
  }
  return places;
}

function isNamed(kind: ListKind): boolean {
  return kind === "tools" || kind === "prompts";
}
