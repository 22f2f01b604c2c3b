import type { JsonObject } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { inProcessServer, serverOptions } from "../testing/in-process-server.ts";
import { testTree } from "../testing/test-tree.ts";

/** How a tool with this `_meta` is marked in the tree's list. */
async function markOf(meta: JsonObject): Promise<unknown> {
  const server = inProcessServer({ tools: [{ name: "t", inputSchema: { type: "object" }, _meta: meta }] });
  const { ask } = testTree([serverOptions("s", server.open, { isTrusted: true })]);
  const [listed] = (await ask("tools/list", {}, { tools: ["s.*"] })).tools as { _meta: JsonObject }[];
  return listed?._meta["x-mcpax-safety"];
}

test.each([
  { mutable: true, reversible: false, mark: "irreversible_mutable" },
  { mutable: true, reversible: true, mark: undefined },
  { mutable: false, reversible: true, mark: undefined },
  { mutable: false, reversible: false, mark: undefined },
])("[AX-11.2-1] mutable $mutable, reversible $reversible: marked as $mark", async ({ mark, ...said }) => {
  expect(await markOf({ "x-mcpax-capability": { ...said, auth_scope: "write" } })).toBe(mark);
});

test("[AX-11.2-1] a tool that says nothing of itself is marked, whatever mark its server has set", async () => {
  expect(await markOf({ "x-mcpax-safety": "safe" })).toBe("irreversible_mutable");
});
