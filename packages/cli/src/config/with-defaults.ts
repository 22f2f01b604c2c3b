// A configuration with the defaults of all keys that are not set. Pure.
import { isObject, type JsonObject } from "@mcpx/protocol";
import { defaultOf } from "./config-json-schema.ts";
import { configReference } from "./config-reference.ts";

/** Sections at the top are added; what belongs to a server, a room or the like only where there is one. */
export function withDefaults(config: JsonObject): JsonObject {
  const whole = structuredClone(config);
  for (const { key, default: standard } of configReference) {
    const value = defaultOf(standard);
    if (value !== undefined) fill(whole, key.split("."), value, true);
  }
  return whole;
}

function fill(
  holder: JsonObject,
  [name = "", ...rest]: readonly string[],
  value: unknown,
  isTop: boolean,
): void {
  if (name === "NAME" || name === "ID") {
    for (const child of Object.values(holder)) if (isObject(child)) fill(child, rest, value, false);
  } else if (name.endsWith("[]")) {
    const items = holder[name.slice(0, -2)];
    if (Array.isArray(items)) for (const item of items) if (isObject(item)) fill(item, rest, value, false);
  } else if (rest.length === 0) holder[name] ??= structuredClone(value);
  else {
    if (isTop && rest.length === 1) holder[name] ??= {};
    const child = holder[name];
    if (isObject(child)) fill(child, rest, value, false);
  }
}
