// What of a tool must not change unseen, as one text: all that its server lists, the same for the same meaning, whatever
// the order of keys, and bounded in size and depth, since a stranger wrote it. Pure.
import { hash } from "node:crypto";
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

/** How the tool is doing, not what it does: a tree below tells another class when it has found one. [AX-9.2-1] */
const passing = new Set(["latency_class", "availability"]);
/**
 * What trees below write into `_meta`: the annotation and what is believed of it, which are pinned as one; the safety mark,
 * which follows from these; and the number of trees on the way, which is another where a tree was moved.
 */
const treeKeys = new Set([capabilityKey, believedKey, "x-mcpax-safety", "x-mcpax-hops"]);

/**
 * Every field of the definition counts, known or not: clients of tomorrow may show what nobody reads today. Left out are
 * the name, which is what the pin is found by, and what `passing` and `treeKeys` say. `undefined` where it is larger or
 * deeper than anybody's tool.
 */
export function pinnedText(item: JsonObject): string | undefined {
  const { name: _, _meta: meta, icons, execution, ...fields } = item;
  return written({
    ...fields,
    execution: isOfOneEra(execution) ? undefined : execution,
    icons: Array.isArray(icons) ? icons.map(shortIcon) : icons,
    _meta: isObject(meta) ? pinnedMeta(item, meta) : meta,
  });
}

/** Servers of both eras say it in one and not in the other, and it makes no difference to a call that is no task. */
function isOfOneEra(execution: unknown): boolean {
  if (!isObject(execution) || Object.keys(execution).length !== 1) return false;
  return execution.taskSupport === "forbidden" || execution.taskSupport === "optional";
}

/** Empty says no more than absent: a tree below adds its own keys to a tool that had none. */
function pinnedMeta(item: JsonObject, meta: JsonObject): JsonObject | undefined {
  const capability = saidOf(item);
  const pinned = {
    ...without(meta, treeKeys),
    ...(capability !== undefined && { [capabilityKey]: lasting(capability) }),
  };
  return Object.keys(pinned).length === 0 ? undefined : pinned;
}

const firstKeys = ["annotations", "description", "inputSchema", "outputSchema", "title"] as const;

/** COMPAT: what was pinned of a tool before everything was. */
export function firstPinnedText(item: JsonObject): string | undefined {
  const capability = saidOf(item);
  return written({
    ...Object.fromEntries(firstKeys.map((key) => [key, item[key]])),
    capability: capability === undefined ? undefined : lasting(capability),
  });
}

function written(fields: JsonObject): string | undefined {
  const there = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  const writer = new CanonicalWriter(pinnedCharsMax);
  return writer.write(there, 0) ? writer.text() : undefined;
}

const iconCharsMax = 1_024;

/** A picture in a data URI counts by its digest: the store keeps no pictures. */
function shortIcon(icon: unknown): unknown {
  if (!isObject(icon) || typeof icon.src !== "string" || icon.src.length <= iconCharsMax) return icon;
  return { ...icon, src: `${icon.src.slice(0, 64)}… sha256 ${hash("sha256", icon.src)}` };
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
  return isObject(capability) ? without(capability, passing) : capability;
}

function without(object: JsonObject, keys: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.has(key)));
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
