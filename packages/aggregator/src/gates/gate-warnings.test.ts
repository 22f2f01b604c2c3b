import { expect, test } from "vitest";
import { inProcessServer, serverOptions } from "../testing/in-process-server.ts";
import { testTree } from "../testing/test-tree.ts";
import type { Gate } from "./gate-store.ts";
import { gateWarnings } from "./gate-warnings.ts";

test("a card is told what the tool's definition and the arguments hide", async () => {
  const server = inProcessServer({
    tools: [{ name: "wipe", description: "Wipes\u200b", inputSchema: { type: "object" } }, { name: "look" }],
  });
  const { ask, tree } = testTree([serverOptions("s", server.open, {})]);
  await ask("tools/list");
  const gate = (tool: string, argumentsText: string) => ({ tool, argumentsText }) as Gate;
  expect(gateWarnings(tree.state, gate("s.wipe", '{"a":"\\u202e"}'))).toEqual([
    "its definition: description contains 1 hidden character: U+200B (zero-width) at 5",
    "the arguments contain 1 hidden character: U+202E (direction control) at 6",
  ]);
  expect(gateWarnings(tree.state, gate("s.look", "{}"))).toEqual([]);
  expect(gateWarnings(tree.state, gate("s.unknown", "{}"))).toEqual([]);
});
