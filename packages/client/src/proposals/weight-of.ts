// About how many bytes a proposal takes.
import { isObject } from "@mcpx/protocol";
import type { Proposal } from "./proposal.ts";

const weights = new WeakMap<object, number>();

/** Its parts stay the same objects from one state to the next, and are weighed once. */
export function weightOf(proposal: Proposal | undefined): number {
  let sum = 0;
  for (const part of Object.values(proposal ?? {}).flat()) {
    const weight = weights.get(part) ?? weigh(part);
    if (isObject(part)) weights.set(part, weight);
    sum += weight;
  }
  return sum;
}

/** Not by recursion: who knows how deep a gateway lets it be. */
function weigh(part: unknown): number {
  const open = [part];
  let sum = 0;
  for (const one of open) {
    sum += 8;
    if (typeof one === "string") sum += one.length;
    else for (const inner of Object.entries(one ?? {}).flat()) open.push(inner);
  }
  return sum;
}
