// Floods nobody thought of: verbs of the table in random sizes, numbers and credentials, some at once, one flood after
// the other at the same gateway. What must hold under all of them: it lives, it expels nobody honest, and lets in
// whoever may come.
import type { Credential } from "./attacks/attack.ts";
import { attacks } from "./attacks/table.ts";
import type { Window } from "./honest.ts";
import type { Gateway, Scene } from "./scene.ts";
import type { Told } from "./told.ts";
import { type Orders, startHonest, underAttack, untilQuiet } from "./under-attack.ts";

const together = [1, 1, 2, 4];
const shares = [1, 1, 1 / 4, 1 / 64];
const concurrencies = [1, 4, 16, 64, 256];
const credentials: readonly Credential[] = ["token", "token", "token", "forged token", "none"];
const quietMs = 500;

export interface FloodResult {
  /** To be read, and to be run again. */
  orders: Orders;
  p50Ms: number;
  p99Ms: number;
  /** Since that gateway was started. */
  rssMaxBytes: number;
  /** Not waited for where there were faults: the gateway is replaced. */
  recoveryMs: number | undefined;
  /** What must not happen, in words. */
  faults: string[];
}

/** The same seed gives the same numbers, 0 to 1 (mulberry32). */
export function numbersFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function randomFlood(random: () => number): Orders {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const chosen = new Map<string, Orders[number]>();
  for (let left = pick(together); left > 0; left -= 1) {
    const { name, bytes } = pick(attacks);
    const sized = Math.floor(bytes * pick(shares));
    chosen.set(name, { name, bytes: sized, concurrency: pick(concurrencies), as: pick(credentials) });
  }
  return [...chosen.values()];
}

interface FloodsOptions {
  scene: Scene;
  floods: Iterable<Orders>;
  ms: number;
  /** Of the gateway's Node. */
  nodeArgs?: readonly string[];
  note?(result: FloodResult): void;
}

export async function runFloods({
  scene,
  floods,
  ms,
  nodeArgs = [],
  note,
}: FloodsOptions): Promise<FloodResult[]> {
  const results: FloodResult[] = [];
  let running: { gateway: Gateway; honest: Told; quiet: Window } | undefined;
  const end = async () => {
    await running?.honest.end();
    await running?.gateway.stop();
    running = undefined;
  };
  try {
    for (const orders of floods) {
      running ??= await start(scene, nodeArgs);
      const { gateway, honest, quiet } = running;
      const { attack, fault } = await underAttack(scene, gateway, honest, [orders], ms);
      const rssMaxBytes = gateway.rssMaxBytes();
      const faults = attack === undefined ? [fault ?? "nothing was measured"] : faultsOf(attack);
      const result = {
        orders,
        p50Ms: attack?.p50Ms ?? Number.POSITIVE_INFINITY,
        p99Ms: attack?.p99Ms ?? Number.POSITIVE_INFINITY,
        rssMaxBytes,
        recoveryMs: faults.length > 0 ? undefined : await untilQuiet(gateway, honest, quiet),
        faults,
      };
      results.push(result);
      note?.(result);
      // The next one begins at a gateway in which all are at their places again.
      if (result.faults.length > 0) await end();
    }
  } finally {
    await end();
  }
  return results;
}

async function start(scene: Scene, nodeArgs: readonly string[]) {
  const gateway = await scene.start({ nodeArgs });
  const honest = await startHonest(scene, gateway);
  return { gateway, honest, quiet: await honest.tell<Window>("measure", quietMs) };
}

function faultsOf({ expelled, joins, unacked }: Window): string[] {
  return [
    ...expelled.map((who) => `expelled: ${who}`),
    ...Object.entries(joins.failed).map(([why, count]) => `${count} valid joins refused: ${why}`),
    ...(unacked > 0 ? [`${unacked} envelopes never acknowledged`] : []),
  ];
}

export function worstOf(results: readonly FloodResult[], count: number): FloodResult[] {
  return results.toSorted((a, b) => b.p50Ms - a.p50Ms).slice(0, count);
}

export function lineOf({ orders, p50Ms, p99Ms, rssMaxBytes, recoveryMs, faults }: FloodResult): string {
  const what = orders.map(({ name, bytes, concurrency, as, path }) =>
    [name, path, bytes !== undefined && `${bytes} B`, concurrency !== undefined && `× ${concurrency}`, as]
      .filter((part) => part !== undefined && part !== false)
      .join(" "),
  );
  const figures = `p50 ${Math.round(p50Ms)} ms, p99 ${Math.round(p99Ms)} ms, RSS ${rssMaxBytes >> 20} MiB`;
  const wrong = faults.length === 0 ? "" : `; ${faults.join("; ")}`;
  const over = recoveryMs === undefined ? "" : `, over after ${Math.round(recoveryMs)} ms`;
  return `${figures}${over}: ${what.join(" + ")}${wrong}`;
}
