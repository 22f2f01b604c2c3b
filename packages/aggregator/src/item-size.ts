// How large an item of a list is. Pure.
import { isObject, type JsonObject } from "@mcpx/protocol";

/** What is nested deeper cannot be written by everybody who can read it, and would take the whole list with it. */
export const itemDepthMax = 128;

/** Of the item as JSON; `undefined` where it is nested too deeply. */
export function charsOf(item: JsonObject): number | undefined {
  return isDeeper(item, itemDepthMax) ? undefined : JSON.stringify(item).length;
}

function isDeeper(value: unknown, depth: number): boolean {
  if (!isObject(value) && !Array.isArray(value)) return false;
  if (depth === 0) return true;
  const inside = Array.isArray(value) ? value : Object.values(value);
  return inside.some((one) => isDeeper(one, depth - 1));
}
