// A tree of a thousand servers with ten tools each, in this process and without wires: what a page of its list costs,
// what each tool costs in memory, and whether a call costs more than in a tree of one server.
import { setImmediate as turn } from "node:timers/promises";
import type { JsonObject } from "@mcpx/protocol";
import { inProcessServer, serverOptions } from "../../packages/aggregator/src/testing/in-process-server.ts";
import { type TestTree, testTree } from "../../packages/aggregator/src/testing/test-tree.ts";
import { percentile } from "../rooms/load.ts";
import { sized } from "../sizes.ts";

const servers = sized(1_000, 20);
const toolsEach = 10;
const pageSize = sized(1_000, 200);
const pages = sized(200, 5);
const rounds = sized(9, 3);
const callsPerRound = sized(10_000, 100);
const goals = { pageP50Ms: 5, heapBytesPerTool: 4_096 };

export async function benchCatalogue(): Promise<Record<string, unknown>> {
  const large = treeOf(servers);
  // Conversations open, nothing listed: what follows is the catalogue's.
  await Promise.all(Array.from({ length: servers }, (_, i) => openTo(large, i)));
  const before = await heapBytes();
  const tools = await listAll(large);
  const heapBytesPerTool = ((await heapBytes()) - before) / tools;
  const page = await measurePages(large);
  const small = treeOf(1);
  const calls = await measureCalls(small, large);
  return {
    servers,
    tools,
    page,
    heapBytesPerTool: Math.round(heapBytesPerTool),
    cpuUsPerCall: { tools10: round(calls.small), tools10000: round(calls.large) },
    ratio: {
      page_vs_goal: round(page.p50Ms / goals.pageP50Ms),
      heap_vs_goal: round(heapBytesPerTool / goals.heapBytesPerTool),
      call_10000_vs_10: round(calls.ratio),
    },
  };
}

function treeOf(count: number): TestTree {
  const all = Array.from({ length: count }, (_, i) => {
    // As text: each list is read anew, as from a wire, and what the tree keeps of it is its own.
    const text = JSON.stringify(Array.from({ length: toolsEach }, (_, n) => toolOf(i, n)));
    const server = inProcessServer({
      handle({ method }) {
        server.asked.length = 0;
        if (method === "tools/list") return { tools: JSON.parse(text) as JsonObject[], ttlMs: 3_600_000 };
        if (method === "tools/call") return { content: [], resultType: "complete" };
        return undefined as unknown as JsonObject;
      },
    });
    return serverOptions(`server-${i}`, server.open);
  });
  return testTree(all);
}

function toolOf(server: number, n: number): JsonObject {
  return {
    name: `read_record_${n}`,
    description: `Reads record ${n} of the archive that server ${server} keeps, with all its fields and their history.`,
    inputSchema: {
      type: "object",
      properties: {
        id: { type: "string", description: "Which record." },
        fields: { type: "array", items: { type: "string" }, description: "Only these fields." },
        limit: { type: "integer", minimum: 1, maximum: 100 },
      },
      required: ["id"],
    },
    annotations: { readOnlyHint: true },
  };
}

async function openTo({ ask }: TestTree, server: number): Promise<void> {
  await ask("prompts/get", { name: `server-${server}.nothing` }).catch(() => {});
}

async function listAll({ ask }: TestTree): Promise<number> {
  let count = 0;
  let cursor: unknown;
  do {
    const { tools, nextCursor } = await ask("tools/list", cursor === undefined ? {} : { cursor });
    count += (tools as unknown[]).length;
    cursor = nextCursor;
  } while (cursor !== undefined);
  return count;
}

async function measurePages({
  ask,
}: TestTree): Promise<{ p50Ms: number; p99Ms: number; withTextP50Ms: number }> {
  const made: number[] = [];
  const written: number[] = [];
  for (let i = 0; i < pages; i += 1) {
    const began = performance.now();
    const page = await ask("tools/list");
    made.push(performance.now() - began);
    const text = JSON.stringify(page);
    written.push(performance.now() - began);
    if (text.length < 100 * pageSize) throw new Error("the page is too short");
    await turn();
  }
  for (const times of [made, written]) times.sort((a, b) => a - b);
  return {
    p50Ms: round(percentile(made, 50)),
    p99Ms: round(percentile(made, 99)),
    withTextP50Ms: round(percentile(written, 50)),
  };
}

/** In rounds that alternate; the ratio is the median of the rounds'. */
async function measureCalls(
  small: TestTree,
  large: TestTree,
): Promise<{ small: number; large: number; ratio: number }> {
  const smalls: number[] = [];
  const larges: number[] = [];
  for (let i = 0; i < rounds; i += 1) {
    smalls.push(await callCost(small));
    larges.push(await callCost(large));
  }
  // The first rounds are warm-up.
  const pairs = larges.map((cost, i) => cost / (smalls[i] as number)).slice(2);
  return { small: median(smalls.slice(2)), large: median(larges.slice(2)), ratio: median(pairs) };
}

async function callCost({ ask }: TestTree): Promise<number> {
  const began = process.cpuUsage();
  for (let i = 0; i < callsPerRound; i += 1) {
    // The same ten again and again, however many others there are.
    await ask("tools/call", { name: `server-0.read_record_${i % toolsEach}`, arguments: { id: "x" } });
    // As many as a hop has in flight; nothing is dropped before the event loop turns.
    if (i % 32 === 0) await turn();
  }
  const { user, system } = process.cpuUsage(began);
  return (user + system) / callsPerRound;
}

async function heapBytes(): Promise<number> {
  for (let i = 0; i < 4; i += 1) {
    globalThis.gc?.();
    await turn();
  }
  return process.memoryUsage().heapUsed;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
