import type { JsonObject } from "@mcpx/protocol";
import { expect, test } from "vitest";
import type { Registered } from "../servers/server-origin.ts";
import { inProcessServer, serverOptions } from "../testing/in-process-server.ts";
import { openBelow } from "../testing/nested.ts";
import { callerOf, type TestExchange, type TestTree, testTree } from "../testing/test-tree.ts";

function toolsOf(...names: readonly string[]) {
  return inProcessServer({ tools: names.map((name) => ({ name, inputSchema: { type: "object" } })) });
}

async function routesOf({ ask }: TestTree, args: JsonObject = {}, more: Partial<TestExchange> = {}) {
  const params = { name: "mcpax.routes", arguments: args };
  const { structuredContent } = await ask("tools/call", params, more);
  return structuredContent as { routes: Record<string, JsonObject>; next: string | null };
}

test("[AX-7.1-1] the routing table: where each call goes, what it is, and since when", async () => {
  const origin: Registered = {
    kind: "registered",
    subserverId: "edge-1",
    session: { id: "a3f7c", registeredAt: Date.UTC(2026, 4, 1, 12) },
    payer: "somebody",
    isGuest: false,
    isTree: false,
    scope: "write",
    declared: { tools: true, resources: false, prompts: false, notifications: false },
    refusal: () => undefined,
    describe: () => ({}),
  };
  const tree = testTree([
    serverOptions("edge", toolsOf("getStatus").open, { origin }),
    serverOptions("b", toolsOf("x").open),
  ]);
  // Nobody waits for the first list of one that has registered.
  await expect.poll(async () => Object.keys((await routesOf(tree)).routes)).toContain("edge.get_status");
  const { routes, next } = await routesOf(tree);
  expect(next).toBeNull();
  expect(Object.keys(routes)).toEqual([
    "b.x",
    "edge.get_status",
    "mcpax.notifications_dropped",
    "mcpax.routes",
    "mcpax.status",
    "mcpax.subservers",
  ]);
  expect(routes["edge.get_status"]).toEqual({
    downstream_session: "a3f7c",
    downstream_name: "getStatus",
    capability: expect.objectContaining({ mutable: true, latency_class: "standard" }),
    registered_at: "2026-05-01T12:00:00.000Z",
  });
  expect(routes["b.x"]).toMatchObject({
    downstream_session: null,
    downstream_name: "x",
    registered_at: null,
  });
});

test("[AX-7.1-1] it has what the caller may use, and nothing else", async () => {
  const tree = testTree([serverOptions("a", toolsOf("x", "y").open), serverOptions("b", toolsOf("x").open)]);
  const { routes } = await routesOf(tree, {}, { tools: ["a.x", "mcpax.routes"] });
  expect(Object.keys(routes)).toEqual(["a.x", "mcpax.routes"]);
});

test("[AX-7.1-1] a long table comes in parts, each tool in one of them", async () => {
  const names = Array.from({ length: 1_200 }, (_, i) => `t${i}`);
  const tree = testTree([serverOptions("a", toolsOf(...names).open)]);
  const seen: string[] = [];
  const parts: number[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const { routes, next } = await routesOf(tree, after === undefined ? {} : { after });
    seen.push(...Object.keys(routes));
    parts.push(Object.keys(routes).length);
    after = next;
  }
  expect(parts).toEqual([500, 500, 204]);
  expect(new Set(seen).size).toBe(1_204);
  await expect(routesOf(tree, { after: 7 })).rejects.toMatchObject({ code: "bad_params" });
});

test("[AX-7.1-1] the table of a tree below is there under its name", async () => {
  const below = testTree([serverOptions("stm32", toolsOf("x").open)], { segment: "edge", hasParents: true });
  const root = testTree([serverOptions("edge", openBelow(below.tree, callerOf().principal))]);
  const { structuredContent } = await root.ask("tools/call", { name: "edge.mcpax.routes" });
  expect(structuredContent).toMatchObject({ routes: { "stm32.x": { downstream_name: "x" } } });
  expect((await routesOf(root)).routes["edge.stm32.x"]).toMatchObject({ downstream_name: "stm32.x" });
});

test("[AX-12-7] how much was dropped is a tool: nothing at first", async () => {
  const { ask } = testTree([serverOptions("a", toolsOf("x").open)]);
  const { structuredContent } = await ask("tools/call", { name: "mcpax.notifications_dropped" });
  expect(structuredContent).toEqual({ total: 0, subservers: {}, missed_by_clients: 0 });
});
