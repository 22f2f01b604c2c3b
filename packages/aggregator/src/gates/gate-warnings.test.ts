import { expect, test } from "vitest";
import { inProcessServer, serverOptions } from "../testing/in-process-server.ts";
import { testTree } from "../testing/test-tree.ts";
import { toolWarnings } from "./gate-warnings.ts";

test("a card is told what the tool's definition hides", async () => {
  const server = inProcessServer({
    tools: [{ name: "wipe", description: "Wipes\u200b", inputSchema: { type: "object" } }, { name: "look" }],
  });
  const { ask, tree } = testTree([serverOptions("s", server.open, {})]);
  await ask("tools/list");
  const warned = ["its definition: description contains 1 hidden character: U+200B (zero-width) at 5"];
  expect(toolWarnings(tree.state, { tool: "s.wipe" })).toEqual(warned);
  expect(toolWarnings(tree.state, { tool: "s.wipe" })).toEqual(warned);
  expect(toolWarnings(tree.state, { tool: "s.look" })).toEqual([]);
  expect(toolWarnings(tree.state, { tool: "s.unknown" })).toEqual([]);
});
