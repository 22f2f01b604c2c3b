// Loaded into a gateway's process before the gateway: how long the turns of its event loop are, in CPU time of the main
// thread, which does not depend on what else the machine does. SIGUSR2 writes what was seen since the last one to the
// file of the address (`?out=`).
import { renameSync, writeFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

export interface TurnFigures {
  /** Half of the busy time passes in turns at least this long. */
  p50Ms: number;
  maxMs: number;
  /** Of the main thread, of the time that passed. */
  cores: number;
}

const lookMs = 1;
const out = new URL(import.meta.url).searchParams.get("out");

if (isMainThread && out !== null) {
  let turns: number[] = [];
  let since = performance.now();
  let cpuMs = cpuNowMs();
  const look = () => {
    const now = cpuNowMs();
    turns.push(now - cpuMs);
    cpuMs = now;
  };
  setInterval(look, lookMs).unref();
  process.on("SIGUSR2", () => {
    look();
    writeFileSync(`${out}.new`, JSON.stringify(figuresOf(turns, performance.now() - since)));
    renameSync(`${out}.new`, out);
    turns = [];
    since = performance.now();
  });
}

function cpuNowMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function figuresOf(turns: readonly number[], passedMs: number): TurnFigures {
  const longestFirst = turns.toSorted((a, b) => b - a);
  const allMs = turns.reduce((sum, ms) => sum + ms, 0);
  let seenMs = 0;
  const middle = longestFirst.find((ms) => {
    seenMs += ms;
    return seenMs >= allMs / 2;
  });
  return { p50Ms: middle ?? 0, maxMs: longestFirst[0] ?? 0, cores: allMs / passedMs };
}
