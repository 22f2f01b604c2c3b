// What of a tool must not change unseen, as one text: the same for the same meaning, whatever the order of keys, and
// bounded in size and depth, since a stranger wrote it. Pure.
import {
  believedKey,
  capabilityKey,
  capabilityOf,
  isObject,
  type JsonObject,
  numberOf,
} from "@mcpx/protocol";

/** Of one tool. */
export const pinnedCharsMax = 256 * 1_024;
const depthMax = 128;
/** `"":0,` is the least a key costs. */
const keyCharsMin = 5;

const pinnedKeys = ["annotations", "description", "inputSchema", "outputSchema", "title"] as const;
/** How the tool is doing, not what it does: a tree below tells another class when it has found one. [AX-9.2-1] */
const passing = new Set(["latency_class", "availability"]);

/** `undefined` where it is larger or deeper than anybody's tool. */
export function pinnedText(item: JsonObject): string | undefined {
  const entries: [string, unknown][] = pinnedKeys
    .filter((key) => item[key] !== undefined)
    .map((key) => [key, item[key]]);
  const capability = saidOf(item);
  if (capability !== undefined) entries.push(["capability", lasting(capability)]);
  const writer = new CanonicalWriter(pinnedCharsMax);
  return writer.write(Object.fromEntries(entries), 0) ? writer.text() : undefined;
}

/**
 * The annotation; of a tree's tool what is to be believed of it. Trees of older versions have sent that in the place of
 * the annotation: the same text, so that nothing has changed when they are renewed.
 */
function saidOf(item: JsonObject): unknown {
  const meta = isObject(item._meta) ? item._meta : {};
  return meta[believedKey] === undefined ? meta[capabilityKey] : capabilityOf(item, true);
}

function lasting(capability: unknown): unknown {
  if (!isObject(capability)) return capability;
  return Object.fromEntries(Object.entries(capability).filter(([key]) => !passing.has(key)));
}

class CanonicalWriter {
  readonly #parts: string[] = [];
  #left: number;

  constructor(charsMax: number) {
    this.#left = charsMax;
  }

  text(): string {
    return this.#parts.join("");
  }

  /** `false` as soon as it is too much: what follows is not even looked at. */
  write(value: unknown, depth: number): boolean {
    if (typeof value === "string" && value.length > this.#left) return false;
    if (typeof value !== "object" || value === null || numberOf(value) !== undefined) {
      return this.#add(JSON.stringify(value) ?? "null");
    }
    if (depth >= depthMax) return false;
    return Array.isArray(value) ? this.#list(value, depth) : this.#object(value as JsonObject, depth);
  }

  #list(items: readonly unknown[], depth: number): boolean {
    if (items.length > this.#left || !this.#add("[")) return false;
    for (const [i, item] of items.entries()) {
      if ((i > 0 && !this.#add(",")) || !this.write(item, depth + 1)) return false;
    }
    return this.#add("]");
  }

  #object(object: JsonObject, depth: number): boolean {
    const keys = Object.keys(object);
    if (keys.length * keyCharsMin > this.#left || !this.#add("{")) return false;
    for (const [i, key] of keys.sort().entries()) {
      if (i > 0 && !this.#add(",")) return false;
      if (!this.write(key, depth) || !this.#add(":") || !this.write(object[key], depth + 1)) return false;
    }
    return this.#add("}");
  }

  #add(text: string): boolean {
    this.#left -= text.length;
    if (this.#left < 0) return false;
    this.#parts.push(text);
    return true;
  }
}
