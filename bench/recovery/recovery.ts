// How soon a call works again after the server behind a hop was killed: ours and others', each kill on hops started
// afresh, in rounds that go around all of them.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isBackend } from "../hop/legs.ts";
import { startOurs } from "../hop/ours.ts";
import { installPeers, startMcpHub, startMcpProxy, startSupergateway } from "../hop/peers.ts";
import { processTree } from "../hop/process-tree.ts";
import type { Target } from "../hop/session.ts";
import type { Started } from "../hop/started.ts";
import { isSmoke, sized } from "../sizes.ts";
import { openCaller } from "./caller.ts";

const kills = sized(5, 1);
const pollMs = 20;
/** A call that has no answer by then has failed. */
const answerMs = 1_000;
/** Some hops start a server for everybody who connects. */
const openMs = 5_000;
/** Before the first call everything has to start. */
const startMs = 30_000;
/** What has not come back by then does not count as coming back. */
const patienceMs = 10_000;

interface Return {
  /** From the kill to the first right answer; `null` where none came in time. */
  ms: number | null;
  failedCalls: number;
}

interface Kill {
  /** Of a client that stays connected. */
  sameSession: Return;
  /** Of clients that connect for each call. */
  newSession: Return;
}

type Hop = Started & { url: string; token?: string };

const backend = [process.execPath, new URL("../hop/backend.ts", import.meta.url).pathname, "stdio", "legacy"];
const server = { command: backend[0], args: backend.slice(1) };

const hops: Record<
  string,
  { tool: string; manner: Target["manner"]; start(dir: string): Promise<Hop | string> }
> = {
  ours: { tool: "bench.echo", manner: "legacy", start: (dir) => startOurs(server, dir) },
  mcp_proxy: { tool: "echo", manner: "legacy", start: (dir) => startMcpProxy(backend, dir) },
  mcp_hub: { tool: "bench__echo", manner: "sse", start: (dir) => startMcpHub(server, dir) },
  supergateway: { tool: "echo", manner: "legacy", start: (dir) => startSupergateway(backend, dir) },
};

export async function benchRecovery(note: (line: string) => void): Promise<Record<string, unknown>> {
  // They come from the network, which a smoke test does without.
  if (!isSmoke) installPeers(note);
  const dir = mkdtempSync(join(tmpdir(), "mcpx-bench-recovery-"));
  const measured: Record<string, Kill[]> = {};
  try {
    for (let round = 1; round <= kills; round += 1) {
      note(`recovery: kill ${round} of ${kills}`);
      for (const name of isSmoke ? ["ours"] : Object.keys(hops)) {
        const own = join(dir, `${name}-${round}`);
        mkdirSync(own);
        measured[name] = [...(measured[name] ?? []), await measure(name, own)];
      }
    }
    return Object.fromEntries(
      Object.entries(measured).map(([name, all]) => [
        name,
        {
          kills: all.length,
          sameSession: summary(all.map(({ sameSession }) => sameSession)),
          newSession: summary(all.map(({ newSession }) => newSession)),
        },
      ]),
    );
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function measure(name: string, dir: string): Promise<Kill> {
  const { tool, manner, start } = hops[name] as (typeof hops)[string];
  const hop = await start(dir);
  if (typeof hop === "string") throw new Error(`${name}: ${hop}`);
  try {
    const target: Target = { url: hop.url, manner, tool };
    if (hop.token !== undefined) target.token = hop.token;
    return await killOnce(name, target, hop);
  } finally {
    await hop.stop();
  }
}

async function killOnce(name: string, target: Target, hop: Hop): Promise<Kill> {
  const caller = await openCaller(target, startMs);
  for (let calls = 0; calls < 20; calls += 1) {
    if (!(await caller.call(startMs))) throw new Error(`${name} does not answer: ${hop.lastWords()}`);
  }
  const pids = backendsOf(hop.pid);
  if (pids.length === 0) throw new Error(`${name} has no backend`);
  const killedAt = performance.now();
  for (const pid of pids) process.kill(pid, "SIGKILL");
  const [sameSession, newSession] = await Promise.all([
    untilGood(killedAt, () => caller.call(answerMs)),
    untilGood(killedAt, () => callAnew(target)),
  ]);
  return { sameSession, newSession };
}

async function untilGood(killedAt: number, call: () => Promise<boolean>): Promise<Return> {
  for (let failedCalls = 0; ; failedCalls += 1) {
    const begunAt = performance.now();
    if (begunAt - killedAt > patienceMs) return { ms: null, failedCalls };
    if (await call()) return { ms: performance.now() - killedAt, failedCalls };
    await sleep(Math.max(0, begunAt + pollMs - performance.now()));
  }
}

async function callAnew(target: Target): Promise<boolean> {
  let caller: Awaited<ReturnType<typeof openCaller>>;
  try {
    caller = await openCaller(target, openMs);
  } catch {
    // It is not let in, so it cannot call.
    return false;
  }
  try {
    return await caller.call(answerMs);
  } finally {
    await caller.close();
  }
}

/** The servers themselves; some hops have a shell in between. */
function backendsOf(hopPid: number): number[] {
  return processTree(hopPid)
    .slice(1)
    .filter(({ command }) => isBackend(command) && command.startsWith(process.execPath))
    .map(({ pid }) => pid);
}

function summary(all: readonly Return[]): Record<string, unknown> {
  const ms = all.flatMap((one) => one.ms ?? []).toSorted((a, b) => a - b);
  return {
    recovered: ms.length,
    medianMs: ms.length === 0 ? null : Math.round(ms[Math.floor(ms.length / 2)] ?? Number.NaN),
    ms: all.map((one) => (one.ms === null ? null : Math.round(one.ms))),
    failedCalls: all.map(({ failedCalls }) => failedCalls),
  };
}
