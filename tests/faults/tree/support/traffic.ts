// A client at the root that calls every tool again and again while things break, and remembers what became of each call.
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "vitest";
import { callTool, type Place } from "../../../tree/support/ask.ts";

export interface Outcome {
  name: string;
  n: string;
  /** `ok`, or the reason it failed for. */
  what: string;
  ms: number;
  /** When it began. */
  atMs: number;
}

export interface Traffic {
  readonly outcomes: readonly Outcome[];
  /** Since that moment, of these tools. */
  since(atMs: number, names?: readonly string[]): Outcome[];
  /** Resolves when the last call has been answered. */
  stop(): Promise<Outcome[]>;
}

/** How long nobody waits: longer than any class that is used here allows. */
const hungMs = 15_000;
const gapMs = 25;
let last = 0;

/** One call with a number of its own. */
export async function callOnce(place: Place, name: string, args: object = {}): Promise<Outcome> {
  last += 1;
  const n = `n${last}`;
  const atMs = performance.now();
  const what = await callTool(place, name, { n, ...args }, { signal: AbortSignal.timeout(hungMs) }).then(
    ({ message }) => {
      const { result, error } = message ?? {};
      if (error !== undefined) return String(error.data?.reason ?? `${error.code} ${error.message}`);
      return result?.content?.[0]?.text?.endsWith(` ${n}`) ? "ok" : `odd: ${JSON.stringify(message)}`;
    },
    (error: Error) => (error.name === "TimeoutError" ? "hung" : `no answer: ${error.message}`),
  );
  return { name, n, what, ms: performance.now() - atMs, atMs };
}

export function startTraffic(place: Place, names: readonly string[]): Traffic {
  const outcomes: Outcome[] = [];
  let isOver = false;
  const workers = names.map(async (name) => {
    while (!isOver) {
      outcomes.push(await callOnce(place, name));
      await wait(gapMs);
    }
  });
  return {
    outcomes,
    since: (atMs, of = names) => outcomes.filter((one) => one.atMs >= atMs && of.includes(one.name)),
    async stop() {
      isOver = true;
      await Promise.all(workers);
      return outcomes;
    },
  };
}

/** What a call may fail for while parts of the tree are away. */
const documented = [
  "ok",
  "subserver_unreachable",
  "server_unreachable",
  "server_lost",
  "timeout",
  "unknown_tool",
];

/** Of tools of the class `fast`: five seconds, one more where a tree waits for a tree, and the machine's own time. */
const answeredMs = 5_000 + 1_000 + 1_500;

/** Every call was answered in time, by a result or by a reason that is written down. */
export function expectDocumented(outcomes: readonly Outcome[], withinMs = answeredMs): void {
  expect(outcomes.filter(({ what }) => !documented.includes(what))).toEqual([]);
  expect(outcomes.filter(({ ms }) => ms > withinMs)).toEqual([]);
}

/**
 * What was done is what was answered: a call that succeeded was done once, one whose reason says that nobody was reached
 * was not done, and none was done twice.
 */
export function expectHonest(outcomes: readonly Outcome[], effects: readonly { n: string }[]): void {
  const done = new Map<string, number>();
  for (const { n } of effects) done.set(n, (done.get(n) ?? 0) + 1);
  expect([...done.values()].filter((times) => times > 1)).toEqual([]);
  expect(outcomes.filter(({ what, n }) => what === "ok" && !done.has(n))).toEqual([]);
  const unreached = ["subserver_unreachable", "unknown_tool"];
  expect(outcomes.filter(({ what, n }) => unreached.includes(what) && done.has(n))).toEqual([]);
}
