// What a client can, as one text: servers may list other things for other clients, and legacy ones are told once, when
// the conversation begins. Pure.
import { isObject, type JsonObject } from "@mcpx/protocol";

const known = ["elicitation", "extensions", "roots", "sampling", "tasks"] as const;
const charsMax = 2_048;

/** A memo: capabilities never change once they were read, and callers keep theirs. */
const shapes = new WeakMap<JsonObject, string>();

/** The same text for clients that can the same. */
export function shapeOf(capabilities: JsonObject): string {
  // Most can nothing of it, and modern ones say so with every request: that is not worth remembering.
  if (!known.some((key) => isObject(capabilities[key]))) return "";
  const remembered = shapes.get(capabilities);
  if (remembered !== undefined) return remembered;
  const entries = known
    .filter((key) => isObject(capabilities[key]))
    .map((key) => [key, sorted(capabilities[key])]);
  const text = JSON.stringify(Object.fromEntries(entries));
  // Nobody's real capabilities are that long; they are served as one that can nothing.
  const shape = text.length > charsMax ? "" : text;
  shapes.set(capabilities, shape);
  return shape;
}

/** What a conversation declares for clients of this shape. */
export function capabilitiesOf(shape: string): JsonObject {
  return shape === "" ? {} : (JSON.parse(shape) as JsonObject);
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
