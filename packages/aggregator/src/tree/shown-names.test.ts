// Names as clients see them that have not asked for others: fit for every model, each its own tool, always the same.
import type { JsonObject } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { type InProcessServer, inProcessServer, serverOptions } from "../testing/in-process-server.ts";
import { type TestTree, testTree } from "../testing/test-tree.ts";

const tool = (name: string) => ({ name, inputSchema: { type: "object" } });
const safe = { caller: { dialect: "safe" } } as const;
const forModels = /^[a-zA-Z][a-zA-Z0-9_-]{0,52}$/;

const oddNames = [
  "Read",
  "read",
  "READ",
  "x".repeat(200),
  `${"x".repeat(200)}y`,
  "🦊",
  "🐻",
  "a b",
  "a.b",
  "a_b",
];

async function shown({ ask }: Pick<TestTree, "ask">): Promise<string[]> {
  const { tools } = await ask("tools/list", {}, safe);
  return (tools as JsonObject[])
    .map(({ name }) => String(name))
    .filter((name) => !name.startsWith("mcpax__"));
}

async function reached({ ask }: Pick<TestTree, "ask">, server: InProcessServer, name: string) {
  await ask("tools/call", { name }, safe);
  return server.asked.at(-1)?.params.name;
}

test("[B-CLIENT-2] names of 200 characters, of emoji, equal but for case: each has a rendering, and it calls that tool", async () => {
  const server = inProcessServer({ tools: oddNames.map(tool) });
  for (const segment of ["s", undefined]) {
    const tree = testTree([serverOptions("s", server.open, { segment })]);
    const names = await shown(tree);
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(oddNames.length);
    const called = [];
    for (const name of names) {
      expect(name).toMatch(forModels);
      called.push(await reached(tree, server, name));
    }
    expect(called.toSorted()).toEqual(oddNames.toSorted());
  }
});

test("[B-CLIENT-2] a server with 500 tools: each is listed once, and the first and the last are called", async () => {
  const all = Array.from({ length: 500 }, (_, i) => `tool_${i}_${"long".repeat(i % 20)}`);
  const server = inProcessServer({ tools: all.map(tool) });
  const tree = testTree([serverOptions("s", server.open)]);
  const names = await shown(tree);
  expect(new Set(names).size).toBe(500);
  expect(names.filter((name) => !forModels.test(name))).toEqual([]);
  const called = [];
  for (const name of names) called.push(await reached(tree, server, name));
  expect(called.toSorted()).toEqual(all.toSorted());
});

test("[B-CLIENT-2] names that would be rendered alike keep what they were shown as, whoever else is there", async () => {
  const dotted = inProcessServer({ tools: [tool("b"), tool("_b")] });
  const rootTools = inProcessServer({ tools: [tool("a__b"), tool("a___b"), tool("getIt")] });
  const alone = testTree([serverOptions("a", dotted.open)]);
  const both = testTree([
    serverOptions("a", dotted.open),
    serverOptions("root", rootTools.open, { segment: undefined }),
  ]);
  const before = await shown(alone);
  expect(before).toContain("a__b");
  const names = await shown(both);
  expect(names).toEqual(expect.arrayContaining([...before, "getIt"]));
  expect(new Set(names).size).toBe(5);
  // What is shown counts before the canonical name of another.
  expect(await reached(both, dotted, "a__b")).toBe("b");
  const marked = names.filter((name) => /^a___?b_[a-z0-9]{6}$/.test(name) && !before.includes(name));
  const reachedByMark = [];
  for (const name of marked) reachedByMark.push(await reached(both, rootTools, name));
  expect(reachedByMark.toSorted()).toEqual(["a___b", "a__b"]);
});

test("[B-CLIENT-2] the first call by a rendered name waits for its own server alone", async () => {
  const good = inProcessServer({ tools: [tool("t")] });
  const silent = inProcessServer({
    handle: ({ method }) => (method === "tools/list" ? new Promise(() => {}) : (undefined as never)),
  });
  const tree = testTree([serverOptions("good", good.open), serverOptions("silent", silent.open)]);
  expect(await reached(tree, good, "good__t")).toBe("t");
  expect(silent.asked).toEqual([]);
});

test("[B-CLIENT-2] a list of 1 000 tools is rendered from what is kept", async () => {
  const server = inProcessServer({ tools: Array.from({ length: 1_000 }, (_, i) => tool(`tool.${i}`)) });
  const tree = testTree([serverOptions("s", server.open)]);
  const names = await shown(tree);
  expect(names).toHaveLength(996);
  expect(await shown(tree)).toEqual(names);
});
