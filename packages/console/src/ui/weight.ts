// How much of a value is shown at once: how many values it has, itself included, counted as far as it matters, and how
// deep they stand. Pure.
import { isObject } from "@mcpx/protocol";
import { isRaw, shortJson } from "./short-json.ts";

/** Of a list so many are shown until somebody asks for more. */
export const itemsAtOnce = 50;
/** So many values are shown at once, of one that nobody has opened. */
export const valuesAtOnce = 400;
/** What stands deeper is folded. */
export const levelsAtOnce = 40;

export function weightOf(value: unknown, max: number): number {
  if (max <= 1 || (!Array.isArray(value) && !isObject(value))) return 1;
  let weight = 1;
  let items = 0;
  for (const key in value) {
    items += 1;
    if (items > itemsAtOnce) return weight;
    weight += weightOf((value as Record<string, unknown>)[key], max - weight);
    if (weight >= max) return max;
  }
  return weight;
}

/** Whether there is something in it that is not shown until somebody asks for it. `weightMax`: larger ones are not. */
export function isFolded(value: unknown, depth: number, weightMax: number): boolean {
  if (!isFilled(value)) return false;
  return depth >= levelsAtOnce || (weightMax < valuesAtOnce && weightOf(value, weightMax + 1) > weightMax);
}

/** Something in it stands so deep that it is folded. */
export function isDeep(value: unknown, depth = 0): boolean {
  if (!isFilled(value)) return false;
  return depth >= levelsAtOnce || Object.values(value).some((item) => isDeep(item, depth + 1));
}

function isFilled(value: unknown): value is object {
  if (!Array.isArray(value) && !isObject(value)) return false;
  return !isRaw(value) && Object.keys(value).length > 0;
}

const charsAtOnce = 800;

/** Said above arguments that are more than is seen at a glance. */
export function foldNotice(args: unknown): string | undefined {
  const how = [
    shortJson(args, charsAtOnce + 1).length > charsAtOnce ? "long" : "",
    isDeep(args) ? "deep" : "",
  ].filter((word) => word !== "");
  if (how.length === 0) return undefined;
  return `These arguments are ${how.join(" and ")}: what is folded or below belongs to the call too`;
}
