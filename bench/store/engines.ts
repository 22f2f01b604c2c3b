// Two engines that are measured in turns, and what came of it.

import { percentile } from "../rooms/load.ts";
import { sized } from "../sizes.ts";

export type Engine = "sqlite" | "postgres";

export const engines: readonly Engine[] = ["sqlite", "postgres"];
const turns = sized(5, 1);

/** Each engine goes first in every other turn. */
export async function inTurns<Store, T>(
  stores: Record<Engine, Store>,
  measure: (store: Store) => Promise<T>,
): Promise<Record<Engine, T[]>> {
  const measured: Record<Engine, T[]> = { sqlite: [], postgres: [] };
  for (let turn = 0; turn < turns; turn += 1) {
    for (const engine of turn % 2 === 0 ? engines : engines.toReversed()) {
      measured[engine].push(await measure(stores[engine]));
    }
  }
  return measured;
}

/** How long each took. */
export async function timed(times: number, work: (n: number) => Promise<void>): Promise<number[]> {
  const took: number[] = [];
  for (let n = 0; n < times; n += 1) {
    const began = performance.now();
    await work(n);
    took.push(performance.now() - began);
  }
  return took;
}

export function waitsOf(measured: Record<Engine, number[][]>) {
  return { sqlite: waits(measured.sqlite.flat()), postgres: waits(measured.postgres.flat()) };
}

export function waits(ms: readonly number[]) {
  const sorted = ms.toSorted((a, b) => a - b);
  return { p50: percentile(sorted, 50), p99: percentile(sorted, 99), max: sorted.at(-1) ?? Number.NaN };
}
