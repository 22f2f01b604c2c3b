// The configuration as a JSON Schema, for editors: what the checks of `config-schema.ts` say of types, and what
// `config-reference.ts` says of meaning and defaults. Where a check needs more than a schema can say, `mcpx up` says it.
import { isObject, type JsonObject, replaceBetween } from "@mcpx/protocol";
import { z } from "zod";
import { configReference } from "./config-reference.ts";
import { configSchema } from "./config-schema.ts";

export function configJsonSchema(): JsonObject {
  const schema = z.toJSONSchema(configSchema, { io: "input", unrepresentable: "any" }) as JsonObject;
  describe(schema, "");
  return { ...schema, title: "mcpx.json" };
}

/** `topics.NAME.history`, `issuers[].level`: every key that holds a value, with its place in the schema. */
export function keysOf(schema: JsonObject, path = ""): Map<string, JsonObject> {
  const keys = new Map<string, JsonObject>();
  const add = (child: unknown, name: string) => {
    if (isObject(child)) for (const [key, value] of keysOf(child, name)) keys.set(key, value);
  };
  const { properties, additionalProperties, items } = schema;
  if (isObject(properties)) {
    for (const [key, child] of Object.entries(properties)) add(child, path === "" ? key : `${path}.${key}`);
    return keys;
  }
  if (isObject(additionalProperties)) {
    add(additionalProperties, `${path}.${path === "identities" ? "ID" : "NAME"}`);
    return keys;
  }
  if (isObject(items)) add(items, `${path}[]`);
  // A list of plain values is one key.
  const hasFields = [...keys.keys()].some((key) => key.startsWith(`${path}[].`));
  return hasFields ? keys : new Map([[path, schema]]);
}

function describe(schema: JsonObject, path: string): void {
  const keys = keysOf(schema, path);
  for (const { key, default: standard, about } of configReference) {
    const place = keys.get(key);
    if (place === undefined) continue;
    place.description = withoutLinks(about);
    const value = defaultOf(standard);
    if (value !== undefined) place.default = value;
  }
}

/** `[this](there)` as `this`. */
export function withoutLinks(text: string): string {
  return replaceBetween(text, ["[", ")"], (inside) => {
    const [name = "", address] = inside.split("](");
    return address === undefined ? `[${inside})` : name;
  });
}

/** The JSON of a default that is one; words say what cannot be written. */
export function defaultOf(standard: string): unknown {
  const [, text] = /^`(.+)`$/.exec(standard) ?? [];
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
