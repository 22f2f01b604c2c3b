import type { JsonObject } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { faultOf } from "../mcp/rpc-error.ts";
import { inProcessServer, serverOptions } from "../testing/in-process-server.ts";
import { type TestTree, testTree } from "../testing/test-tree.ts";

const tools = [{ name: "t", inputSchema: { type: "object" } }];

/** A server that is lost, and stays away for as long as `isAway` says. */
async function lostServer(options: { graceMs?: number } = {}) {
  const place = { isAway: false };
  const server = inProcessServer({
    tools,
    opening() {
      if (place.isAway) throw new Error("nobody is there");
    },
  });
  const tree = testTree([serverOptions("s", server.open)], options);
  await tree.ask("tools/call", { name: "s.t" });
  place.isAway = true;
  server.die();
  await new Promise((resolve) => setImmediate(resolve));
  return { ...tree, server, place };
}

async function listed({ ask }: Pick<TestTree, "ask">) {
  const { tools: shown } = await ask("tools/list", {}, { tools: ["s.*"] });
  return (shown as JsonObject[]).map(({ name, _meta }) => [
    name,
    (_meta as Record<string, JsonObject>)["x-mcpax-capability"]?.availability,
  ]);
}

test("[AX-13.2-1] [AX-13.2-2] a lost server's tools stay listed as degraded, and calls say since when", async () => {
  const tree = await lostServer();
  const since = new Date(tree.clock.now()).toISOString();
  expect(await listed(tree)).toEqual([["s.t", "degraded"]]);
  const error = await tree.ask("tools/call", { name: "s.t" }).catch((thrown: unknown) => thrown);
  expect(faultOf(error)).toMatchObject({
    code: -32002,
    message: "tool_degraded",
    data: { reason: "subserver_unreachable", since, retry_after_ms: expect.any(Number) },
  });
});

test("[AX-13.1-2] [AX-13.2-2] after the grace nothing is left of it", async () => {
  const tree = await lostServer({ graceMs: 60_000 });
  expect(await listed(tree)).toHaveLength(1);
  tree.clock.advance(60_000);
  expect(await listed(tree)).toEqual([]);
});

test("[AX-13.1-1] a server that comes back is listed afresh, and is degraded no more", async () => {
  const tree = await lostServer();
  expect(await listed(tree)).toEqual([["s.t", "degraded"]]);
  tree.place.isAway = false;
  tree.clock.advance(10_000);
  expect(await listed(tree)).toEqual([["s.t", "best_effort"]]);
  await tree.ask("tools/call", { name: "s.t" });
  expect(tree.server.asked.filter(({ method }) => method === "tools/list")).toHaveLength(2);
});

test("[AX-13.1-1] with no grace a lost server's tools are gone at once", async () => {
  const tree = await lostServer({ graceMs: 0 });
  expect(await listed(tree)).toEqual([]);
});
