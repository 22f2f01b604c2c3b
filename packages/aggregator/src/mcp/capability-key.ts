// A client's capabilities as one text, to compare and to look up by. Servers may list other tools for clients with other
// capabilities, and a legacy server is told the capabilities once, when the session begins. Pure.
import { isObject, type JsonObject } from "@mcpx/protocol";

const known = ["elicitation", "extensions", "roots", "sampling", "tasks"] as const;
const charsMax = 2_048;

/** A memo: capabilities never change once they were read, and callers keep theirs. */
const keys = new WeakMap<JsonObject, string>();

/** The same text for clients with the same capabilities. */
export function capabilityKeyOf(capabilities: JsonObject): string {
  // Most clients declare none of these, and modern clients repeat that with every request: not worth remembering.
  if (!known.some((key) => isObject(capabilities[key]))) return "";
  const remembered = keys.get(capabilities);
  if (remembered !== undefined) return remembered;
  const entries = known
    .filter((key) => isObject(capabilities[key]))
    .map((key) => [key, sorted(capabilities[key])]);
  const text = JSON.stringify(Object.fromEntries(entries));
  // No real client's capabilities are that long; such a client is served as one without capabilities.
  const key = text.length > charsMax ? "" : text;
  keys.set(capabilities, key);
  return key;
}

/** The capabilities that a session declares to its server for clients with this key. */
export function capabilitiesOf(key: string): JsonObject {
  return key === "" ? {} : (JSON.parse(key) as JsonObject);
}

/** Whether servers may ask this client anything. */
export function canBeAsked({ elicitation, roots, sampling }: JsonObject): boolean {
  return isObject(elicitation) || isObject(roots) || isObject(sampling);
}

function sorted(value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}
