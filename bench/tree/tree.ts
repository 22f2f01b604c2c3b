// What a tree of trees costs: a call at each depth beside the least a hop can be, registering many, and how soon the
// root knows what has changed below.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Load, startLoad } from "../hop/load-process.ts";
import type { Target } from "../hop/session.ts";
import { startOwn } from "../hop/started.ts";
import { sized } from "../sizes.ts";
import { type Child, cpuUsOf, rssBytesOf, startChain, startChild, type Told } from "./chain.ts";
import { measureListing } from "./listing.ts";

const depths: readonly number[] = sized([1, 2, 4, 8, 16], [1, 2]);
const deepest = depths.at(-1) as number;
/** Where something changes, and where a subtree dies. */
const middle = sized(8, 2);
const rounds = sized(4, 1);
/** For each level: a hop that has one message at a time pays for waking up, a busy one does not. */
const inFlight = 16;
const warmUpMs = sized(4_000, 200);
const measureMs = sized(2_000, 500);
const subservers = sized(1_000, 20);
const changes = sized(10, 2);
const pollMs = 2;
const patienceMs = 30_000;

interface Way {
  name: string;
  target: Target;
  processes: readonly Pick<Child<unknown>, "pid">[];
  cpuUs: number[];
  p50Ms: number[];
}

export async function benchTree(note: (line: string) => void): Promise<Record<string, unknown>> {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-bench-tree-"));
  const clear = () => rmSync(dir, { recursive: true, force: true });
  process.once("exit", clear);
  note("tree: a list of a thousand tools");
  const listing = await measureListing();
  note(`tree: a chain of ${deepest}`);
  const backend = await startOwn("./backend.ts", ["http", "modern"]);
  const raw = await startOwn("./raw-hop.ts", [backend.url]);
  const chain = await startChain(dir, deepest, backend.url);
  const [root] = chain as [Child<Told>];
  await untilListed(root, toolAt(deepest));
  const calls = await measureCalls(chain, raw, note);
  note(`tree: a change at depth ${middle}`);
  const changed = await measureChange(root, chain[middle - 1] as Child<Told>);
  note(`tree: ${subservers} subservers`);
  const registered = await measureRegistration(root);
  note("tree: a subtree dies");
  const convergence = await measureDeath(root, chain);
  await Promise.all([backend.stop(), raw.stop()]);
  return { ...calls, listing, [`changeAtDepth${middle}`]: changed, registration: registered, convergence };
}

function toolAt(depth: number): string {
  return [...Array.from({ length: depth - 1 }, () => "below"), "bench", "echo"].join(".");
}

async function measureCalls(
  chain: readonly Child<Told>[],
  raw: Pick<Child<unknown>, "pid"> & { url: string },
  note: (line: string) => void,
): Promise<Record<string, unknown>> {
  const [root] = chain as [Child<Told>];
  const { url, clientToken } = root.told;
  const ways: Way[] = [
    {
      name: "raw",
      target: { url: raw.url, manner: "modern", tool: "echo" },
      processes: [raw],
      cpuUs: [],
      p50Ms: [],
    },
    ...depths.map(
      (depth): Way => ({
        name: `depth${depth}`,
        target: { url: `${url}/mcp`, manner: "modern", tool: toolAt(depth), token: clientToken },
        processes: chain.slice(0, depth),
        cpuUs: [],
        p50Ms: [],
      }),
    ),
  ];
  const load = startLoad();
  try {
    note("tree: warming up");
    await warmUp(load, chain, ways[0] as Way);
    for (let round = 1; round <= rounds; round += 1) {
      note(`tree: round ${round} of ${rounds}`);
      for (const way of ways) await turn(load, way, measureMs);
    }
  } finally {
    load.end();
  }
  const [first, ...levels] = ways as [Way, ...Way[]];
  const rawUs = median(first.cpuUs);
  const oneUs = median((levels[0] as Way).cpuUs);
  const results = levels.map((way, index): [string, object] => {
    const depth = depths[index] as number;
    const cpuUs = median(way.cpuUs);
    const perLevelUs = depth === 1 ? cpuUs : (cpuUs - oneUs) / (depth - 1);
    const ratio = { per_level_vs_raw: round3(perLevelUs / rawUs) };
    return [
      way.name,
      { cpuUs: round3(cpuUs), perLevelUs: round3(perLevelUs), p50Ms: round3(median(way.p50Ms)), ratio },
    ];
  });
  return {
    raw: { cpuUs: round3(rawUs), p50Ms: round3(median(first.p50Ms)) },
    ...Object.fromEntries(results),
  };
}

/** Each with the one below it, at full speed: what is deep would be called too rarely to be compiled. */
async function warmUp(load: Load, chain: readonly Child<Told>[], raw: Way): Promise<void> {
  const pairs = chain.slice(0, -1).map(({ told }): Target => {
    return { url: `${told.url}/mcp`, manner: "modern", tool: toolAt(2), token: told.clientToken };
  });
  for (const target of [raw.target, ...pairs]) {
    await load.open(target, inFlight);
    await load.saturate(warmUpMs);
    await load.close();
  }
}

async function turn(load: Load, way: Way, ms: number): Promise<void> {
  await load.open(way.target, inFlight * way.processes.length);
  await load.saturate(200);
  const before = cpuUsOf(way.processes);
  const { calls, p50Ms } = await load.saturate(ms);
  way.cpuUs.push((cpuUsOf(way.processes) - before) / calls);
  way.p50Ms.push(p50Ms);
  await load.close();
}

/** How long until the root lists what a subserver levels below has just got. */
async function measureChange(root: Child<Told>, at: Child<Told>): Promise<object> {
  const one = await startChild<object>("./registrants.ts", [at.told.url, at.told.guestToken, "1"]);
  const path = Array.from({ length: middle - 1 }, () => "below").join(".");
  await untilListed(root, `${path}.r0.t`);
  const times: number[] = [];
  for (let i = 0; i < changes; i += 1) {
    const startedAt = performance.now();
    one.process.send({ add: `more${i}` });
    await untilListed(root, `${path}.r0.more${i}`);
    times.push(performance.now() - startedAt);
  }
  one.process.kill("SIGKILL");
  return { p50Ms: round3(median(times)), maxMs: round3(Math.max(...times)) };
}

async function measureRegistration(root: Child<Told>): Promise<object> {
  const before = rssBytesOf(root);
  const many = await startChild<{ registeredMs: number }>("./registrants.ts", [
    root.told.url,
    root.told.guestToken,
    String(subservers),
  ]);
  const { registeredMs } = many.told;
  const startedAt = performance.now() - registeredMs;
  await untilListed(root, `r${subservers - 1}.t`, subservers);
  const listedMs = performance.now() - startedAt;
  const bytes = (rssBytesOf(root) - before) / subservers;
  many.process.kill("SIGKILL");
  return {
    subservers,
    registeredMs: Math.round(registeredMs),
    listedMs: Math.round(listedMs),
    rssBytesPerSubserver: Math.round(bytes),
  };
}

/** Kills one of the chain: until the root shows all below it as degraded. */
async function measureDeath(root: Child<Told>, chain: readonly Child<Told>[]): Promise<object> {
  const lost = toolAt(deepest);
  const startedAt = performance.now();
  (chain[middle - 1] as Child<Told>).process.kill("SIGKILL");
  await until(async () => (await toolsOf(root)).get(lost) === "degraded");
  return {
    killedAtDepth: middle,
    heartbeatMs: 1_000,
    degradedAtRootMs: round3(performance.now() - startedAt),
  };
}

async function untilListed(root: Child<Told>, name: string, least = 1): Promise<void> {
  await until(async () => {
    const tools = await toolsOf(root);
    return tools.size >= least && tools.has(name);
  });
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + patienceMs;
  while (!(await isTrue())) {
    if (performance.now() > giveUpAt) throw new Error("it did not happen in time");
    await sleep(pollMs);
  }
}

/** All of them, with their availability. */
async function toolsOf({ told }: Child<Told>): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (let cursor: string | undefined; ; ) {
    const { tools, nextCursor } = await listPage(told, cursor);
    for (const { name, _meta } of tools) found.set(name, _meta["x-mcpax-capability"].availability);
    if (nextCursor === undefined) return found;
    cursor = nextCursor;
  }
}

interface Page {
  tools: { name: string; _meta: { "x-mcpax-capability": { availability: string } } }[];
  nextCursor?: string;
}

async function listPage({ url, clientToken }: Told, cursor: string | undefined): Promise<Page> {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const response = await fetch(`${url}/mcp?names=canonical`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${clientToken}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/list",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta, cursor } }),
  });
  const { result } = (await response.json()) as { result: Page };
  return result;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function round3(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
