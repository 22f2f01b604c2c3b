// How much of the heap an item of a list takes. Pure.
import { heapBytesOf, isObject, type JsonObject } from "@mcpx/protocol";

/** What is nested deeper cannot be written by everybody who can read it, and would take the whole list with it. */
export const itemDepthMax = 128;

/** `undefined` where it is nested too deeply. */
export function bytesOf(item: JsonObject): number | undefined {
  return isDeeper(item, itemDepthMax) ? undefined : heapBytesOf(item);
}

function isDeeper(value: unknown, depth: number): boolean {
  if (!isObject(value) && !Array.isArray(value)) return false;
  if (depth === 0) return true;
  const inside = Array.isArray(value) ? value : Object.values(value);
  return inside.some((one) => isDeeper(one, depth - 1));
}
