// What the operator has set for single tools of a server: which are shown, under which name, with which text, and
// which arguments are not the caller's to choose. Applied where the server is attached. Pure.
import {
  type Capability,
  isObject,
  type JsonObject,
  McpxError,
  matchesAnyGlob,
  stricterOf,
} from "@mcpx/protocol";
import { isTree, type Server } from "../servers/server.ts";
import type { Entry } from "./catalogue.ts";

export interface ToolOverride {
  /** Wins over the lists of globs. */
  enabled?: boolean | undefined;
  /** A segment. */
  name?: string | undefined;
  title?: string | undefined;
  description?: string | undefined;
  /** Not shown, and in every call, whatever the caller says. */
  arguments?: Readonly<JsonObject> | undefined;
  capability?: Readonly<Partial<Capability>> | undefined;
}

export interface Overrides {
  /** By the names the tools have at their server. */
  readonly tools: ReadonlyMap<string, ToolOverride>;
  /** Globs over those names; without it all are allowed. */
  readonly allow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
}

/** Arguments that are not the caller's to choose. */
export interface FixedArguments {
  readonly values: Readonly<JsonObject>;
  /** The server's own, which still has them. */
  readonly schema: unknown;
}

export function isEnabled({ overrides }: Pick<Server, "overrides">, name: string): boolean {
  if (overrides === undefined) return true;
  const { tools, allow, deny = [] } = overrides;
  const enabled = tools.get(name)?.enabled;
  if (enabled !== undefined) return enabled;
  return (allow === undefined || matchesAnyGlob(allow, name, ".")) && !matchesAnyGlob(deny, name, ".");
}

/** What the tool shall be called; a tree's tools are called as they are there, or its routes would end nowhere. */
export function renamed(
  server: Pick<Server, "overrides" | "facts" | "origin">,
  name: string,
): string | undefined {
  return isTree(server) ? undefined : server.overrides?.tools.get(name)?.name;
}

/** The tool as it is shown, and what calls of it get. */
export function applyOverrides(entry: Entry, override: ToolOverride): Entry {
  const { title, description, arguments: values, capability } = override;
  const item: JsonObject = {
    ...entry.item,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
  };
  if (capability !== undefined && isObject(item._meta)) {
    // Said of the tool as it was; it is said anew where it holds.
    const { "x-mcpax-safety": _, ...meta } = item._meta;
    item._meta = meta;
  }
  const isFixed = values !== undefined && Object.keys(values).length > 0;
  if (isFixed) item.inputSchema = withoutArguments(entry.item.inputSchema, values);
  return {
    ...entry,
    item,
    listed: entry.listed ?? entry.item,
    capability: capability === undefined ? entry.capability : overridden(entry, capability),
    fixed: isFixed ? { values, schema: entry.item.inputSchema } : undefined,
  };
}

/** The server says what its own tools are; what a tree has said already may only become stricter. [AX-9.2-2] */
function overridden(
  { capability, server }: Entry,
  override: Readonly<Partial<Capability>>,
): Entry["capability"] {
  if (capability === undefined) return undefined;
  const wished = { ...capability, ...override };
  return isTree(server) ? stricterOf(capability, wished) : wished;
}

function withoutArguments(schema: unknown, values: Readonly<JsonObject>): unknown {
  if (!isObject(schema)) return schema;
  const { properties, required } = schema;
  return {
    ...schema,
    ...(isObject(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).filter(([name]) => !Object.hasOwn(values, name)),
      ),
    }),
    ...(Array.isArray(required) && {
      required: required.filter((name) => !Object.hasOwn(values, String(name))),
    }),
  };
}

/** The params of a call with the arguments that are fixed; they win. */
export function withFixed(params: JsonObject, { values }: FixedArguments): JsonObject {
  const { arguments: given = {} } = params;
  if (!isObject(given)) throw new McpxError("bad_params", "params.arguments must be an object");
  return { ...params, arguments: { ...given, ...values } };
}

/** What is set for tools or arguments that are not there, for people. */
export function overrideFaults(server: Server, items: ReadonlyMap<string, JsonObject>): string[] {
  const faults: string[] = [];
  for (const [name, { arguments: values = {}, name: wished }] of server.overrides?.tools ?? []) {
    const item = items.get(name);
    if (item === undefined) {
      faults.push(`${name}: its server has no tool of this name`);
      continue;
    }
    if (wished !== undefined && isTree(server))
      faults.push(`${name}: a tool of a tree below can only be renamed in that tree`);
    const schema = isObject(item.inputSchema) ? item.inputSchema : {};
    const known = isObject(schema.properties) ? schema.properties : {};
    for (const argument of Object.keys(values)) {
      if (!Object.hasOwn(known, argument)) faults.push(`${name}: it has no argument ${argument}`);
    }
  }
  return faults;
}
