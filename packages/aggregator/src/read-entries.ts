// From what a server lists to entries of the tree. Nothing is dropped silently: what cannot be listed is named. Pure.
import { capabilityOf, type JsonObject } from "@mcpx/protocol";
import type { Entry } from "./catalogue.ts";
import type { ListKind } from "./fetch-list.ts";
import { aliasNames } from "./names/alias-names.ts";
import { nameCharsMax } from "./names/segment.ts";
import { prefixUri } from "./names/uris.ts";
import { isTree, type Server } from "./server.ts";

const nameKeys = { tools: "name", prompts: "name", resources: "uri", templates: "uriTemplate" } as const;

export function readEntries(
  server: Server,
  kind: ListKind,
  items: readonly JsonObject[],
): { entries: Entry[]; leftOut: string[] } {
  const leftOut: string[] = [];
  const named = new Map<string, JsonObject>();
  for (const item of items) {
    const name = item[nameKeys[kind]];
    if (typeof name !== "string" || name === "") leftOut.push(`one without a ${nameKeys[kind]}`);
    else if (named.has(name)) leftOut.push(`${name}: listed twice, the first one counts`);
    else named.set(name, item);
  }
  const canonicalOf = canonicalNames(server, kind, named.keys());
  const entries: Entry[] = [];
  for (const [name, item] of named) {
    const canonical = canonicalOf(name);
    // [AX-4.1-2]
    if (isNamed(kind) && canonical.length > nameCharsMax) {
      leftOut.push(`${name}: with its prefix longer than ${nameCharsMax}`);
      continue;
    }
    const capability = kind === "tools" ? capabilityOf(item, server.isTrusted) : undefined;
    entries.push({ server, name, canonical, item, capability });
  }
  entries.sort((a, b) => (a.canonical < b.canonical ? -1 : 1));
  return { entries, leftOut };
}

function canonicalNames(server: Server, kind: ListKind, names: Iterable<string>): (name: string) => string {
  const { segment } = server;
  if (!isNamed(kind)) return (uri) => prefixUri(segment, uri);
  // What stands at the root may be dotted: another tree's names, for one.
  const aliases = aliasNames(names, segment === undefined || isTree(server));
  const prefix = segment === undefined ? "" : `${segment}.`;
  return (name) => prefix + aliases.get(name);
}

function isNamed(kind: ListKind): boolean {
  return kind === "tools" || kind === "prompts";
}
