// A list of a thousand tools, in the names a client takes, from what is remembered: without servers, wires or tokens.
import { inProcessServer, serverOptions } from "../../packages/aggregator/src/testing/in-process-server.ts";
import { testTree } from "../../packages/aggregator/src/testing/test-tree.ts";
import { percentile } from "../rooms/load.ts";
import { sized } from "../sizes.ts";

const toolsCount = 990;
const lists = sized(500, 5);
const warmUp = sized(200, 1);
const goalMs = 1;

export async function measureListing(): Promise<object> {
  const tools = Array.from({ length: toolsCount }, (_, i) => ({
    name: `read.file_${i}`,
    description: "Reads a file and gives back its text, from the first line to the last.",
    inputSchema: { type: "object", properties: { path: { type: "string" }, lines: { type: "integer" } } },
    annotations: { readOnlyHint: true },
  }));
  const { ask } = testTree([serverOptions("files", inProcessServer({ tools }).open)], { isRealTime: true });
  const times: Record<string, number> = {};
  for (const dialect of ["canonical", "safe", "strict"] as const) {
    const ms: number[] = [];
    for (let i = 0; i < warmUp + lists; i += 1) {
      const startedAt = performance.now();
      const { tools: shown } = await ask("tools/list", {}, { caller: { dialect } });
      if (i >= warmUp) ms.push(performance.now() - startedAt);
      if (!Array.isArray(shown) || shown.length < toolsCount) throw new Error("the list is not whole");
    }
    times[dialect] =
      Math.round(
        percentile(
          ms.toSorted((a, b) => a - b),
          50,
        ) * 1_000,
      ) / 1_000;
  }
  return { tools: toolsCount, p50Ms: times, goalMs };
}
