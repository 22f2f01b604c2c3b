// How many values of a value would be shown, itself included, counted as far as it matters. Pure.
import { isObject } from "@mcpx/protocol";

/** Of a list so many are shown until somebody asks for more. */
export const itemsAtOnce = 50;

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
