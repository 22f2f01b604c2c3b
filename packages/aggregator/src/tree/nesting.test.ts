import type { JsonObject } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { inProcessServer, serverOptions } from "../testing/in-process-server.ts";
import { openBelow } from "../testing/nested.ts";
import { callerOf, type TestTree, testTree } from "../testing/test-tree.ts";

const capability = {
  latency_class: "slow",
  consistency: "strong",
  mutable: false,
  reversible: true,
  idempotent: true,
  transport: "uart_cbor",
  auth_scope: "read",
  cost_class: "free",
  availability: "always",
  schema_version: "1.2.3",
};

function chain(levels: number) {
  const leaf = inProcessServer({
    tools: [{ name: "t", inputSchema: { type: "object" }, _meta: { "x-mcpax-capability": capability } }],
  });
  const place = (level: number) => ({ segment: `n${level}`, hasParents: level < levels });
  let below: TestTree = testTree([serverOptions("s0", leaf.open, { isTrusted: true })], place(1));
  for (let level = 1; level < levels; level += 1) {
    const open = openBelow(below.tree, callerOf().principal);
    below = testTree([serverOptions(`n${level}`, open, { isTrusted: true })], place(level + 1));
  }
  const path = Array.from({ length: levels }, (_, i) => `n${levels - i}`);
  return { root: below, leaf, name: [...path, "s0", "t"].join(".") };
}

test.each([1, 2, 8, 32])(
  "[AX-1.1-2] [AX-4.1-1] a call through %i levels arrives, and its result comes back",
  async (levels) => {
    const { root, leaf, name } = chain(levels);
    const listed = (await root.ask("tools/list")).tools as JsonObject[];
    expect(listed.map((tool) => tool.name)).toContain(name);
    const result = await root.ask("tools/call", { name, arguments: { deep: levels } });
    expect(leaf.asked.at(-1)?.params).toEqual({ name: "t", arguments: { deep: levels } });
    expect(result.content).toEqual([
      { type: "text", text: JSON.stringify({ name: "t", arguments: { deep: levels } }) },
    ]);
  },
);

test("[AX-9.2-1] [AX-9.2-2] [AX-9.2-3] annotations reach the root as they were given, with every hop counted", async () => {
  const { root, name } = chain(8);
  const listed = (await root.ask("tools/list")).tools as JsonObject[];
  const tool = listed.find((one) => one.name === name);
  expect(tool?._meta).toEqual({
    "x-mcpax-capability": capability,
    "x-mcpax-believed": capability,
    "x-mcpax-hops": 8,
  });
});

test("[AX-7.2-4] a tree above is told how long a call took; a plain client is not", async () => {
  const server = inProcessServer({ tools: [{ name: "t", inputSchema: { type: "object" } }] });
  const { ask } = testTree([serverOptions("s", server.open)], { segment: "n" });
  const above = await ask("tools/call", { name: "s.t" }, { caller: { isParent: true } });
  expect(above._meta).toEqual({ "x-mcpax-latency-ms": expect.any(Number) });
  expect(await ask("tools/call", { name: "s.t" })).not.toHaveProperty("_meta");
});

test("[AX-9.2-4] a tool that turned out slower is listed so, and gets the time of its new class", async () => {
  const server = inProcessServer({
    tools: [
      {
        name: "t",
        inputSchema: { type: "object" },
        _meta: { "x-mcpax-capability": { ...capability, latency_class: "fast" } },
      },
    ],
    handle({ method }) {
      if (method === "tools/call") clock.advance(6_000);
      return undefined as never;
    },
  });
  const { ask, clock } = testTree([serverOptions("s", server.open, { isTrusted: true })]);
  const shown = async () => {
    const [tool] = (await ask("tools/list", {}, { tools: ["s.*"] })).tools as {
      _meta: Record<string, object>;
    }[];
    return tool?._meta["x-mcpax-capability"];
  };
  expect(await shown()).toMatchObject({ latency_class: "fast" });
  for (let i = 0; i < 24; i += 1) await ask("tools/call", { name: "s.t" });
  expect(await shown()).toEqual({ ...capability, latency_class: "standard" });
});

test("[AX-7.3-2] a tree below is given a margin, so that it can say itself who was late", async () => {
  const hangs = inProcessServer({
    tools: [
      {
        name: "t",
        inputSchema: { type: "object" },
        _meta: { "x-mcpax-capability": { latency_class: "realtime" } },
      },
    ],
    handle: ({ method, signal }) =>
      method === "tools/call"
        ? new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
        : (undefined as never),
  });
  const below = testTree([serverOptions("leaf", hangs.open, { isTrusted: true })], {
    segment: "b",
    hasParents: true,
  });
  const { ask } = testTree([
    serverOptions("b", openBelow(below.tree, callerOf().principal), { isTrusted: true }),
  ]);
  await expect(ask("tools/call", { name: "b.leaf.t" })).rejects.toMatchObject({
    code: "timeout",
    detail: "leaf did not answer tools/call within 500 ms",
  });
});
