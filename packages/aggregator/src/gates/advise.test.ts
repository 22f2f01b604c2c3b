// A caller is told to wait in the names it has: its dialect, its profile, its rights, through every tree between.
import { createManualClock } from "@mcpx/host";
import { isObject, type JsonObject } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { inProcessServer, serverOptions } from "../testing/in-process-server.ts";
import { openBelow } from "../testing/nested.ts";
import { openTreeState } from "../testing/open-tree-state.ts";
import { callerOf, type TestExchange, type TestTree, testTree } from "../testing/test-tree.ts";
import { createGatekeeper } from "./gatekeeper.ts";
import { createSqliteGateStore } from "./store/gate-store-sqlite.ts";

const outputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
const tools = [
  { name: "wipe", inputSchema: { type: "object" } },
  { name: "count", inputSchema: { type: "object" }, outputSchema },
];

function gates(action: "ask" | "allow") {
  return createGatekeeper({
    aggregatorId: action,
    store: createSqliteGateStore({ db: openTreeState(), clock: createManualClock() }),
    rules: [{ tools: "**", action }],
    unannotated: "ask",
    anchors: [],
    holdMs: 0,
    holdWithProgressMs: 0,
    approveUrl: (gate) => `http://127.0.0.1/approve/${gate}`,
  });
}

function gated(): TestTree {
  return testTree([serverOptions("s", inProcessServer({ tools }).open)], { gates: gates("ask") });
}

/** What is said of waiting in each place a client may look at. */
async function told({ ask }: TestTree, name: string, more: Partial<TestExchange>) {
  const result = await ask("tools/call", { name, arguments: { path: "/a" } }, more);
  const [{ text }] = result.content as [{ text: string }];
  const meta = isObject(result._meta) ? (result._meta["x-mcpax-confirmation"] as JsonObject) : {};
  return { result, text, content: result.structuredContent as JsonObject | undefined, meta };
}

test.each([
  ["safe", "s__wipe", "mcpax__wait"],
  ["strict", "s__wipe", "mcpax__wait"],
  ["canonical", "s.wipe", "mcpax.wait"],
] as const)(
  "[B-CLIENT-2] a %s caller is told to wait with a tool it has, wherever it looks",
  async (dialect, shown, waitTool) => {
    const { text, content, meta } = await told(gated(), shown, { caller: { dialect } });
    const wait = { tool: waitTool, arguments: { confirmation_id: expect.any(String) } };
    expect(content).toMatchObject({ status: "confirmation_required", tool: "s.wipe", message: text, wait });
    expect(meta).toMatchObject({ status: "confirmation_required", message: text, wait });
    expect(text).toContain(`Nothing has happened yet: ${shown} was not called.`);
    expect(text).toContain(`call the tool ${waitTool} with {"confirmation_id":"${meta.confirmation_id}"}`);
  },
);

test("[B-CLIENT-2] the advice can be followed as it is", async () => {
  const tree = gated();
  const caller = { caller: { dialect: "safe" } } as const;
  const { content } = await told(tree, "s__wipe", caller);
  const { tool: name, arguments: args } = (content?.wait ?? {}) as JsonObject;
  const again = await tree.ask("tools/call", { name, arguments: args }, caller);
  expect(again.structuredContent).toMatchObject({ confirmation_id: content?.confirmation_id });
});

test("[B-CLIENT-2] who may not use mcpax.wait is told to make the same call again, which waits too", async () => {
  const tree = gated();
  const more = { caller: { dialect: "safe" }, tools: ["s.*"] } as const;
  const { text, content } = await told(tree, "s__wipe", { ...more, tools: [...more.tools] });
  expect(content?.wait).toEqual({ tool: "s__wipe", arguments: { path: "/a" } });
  expect(text).not.toContain("mcpax");
});

test("[B-CLIENT-2] who has only the tools that find others is told to wait through those", async () => {
  const profile = { name: "p", tools: ["**"], search: true };
  const { content } = await told(gated(), "s__wipe", { caller: { dialect: "safe", profile } });
  expect(content?.wait).toEqual({
    tool: "call_tool",
    arguments: { name: "mcpax__wait", arguments: { confirmation_id: content?.confirmation_id } },
  });
});

test("[AX-11.3-4] only where the tool promises a form it is an error, and _meta has all of it", async () => {
  const { result, text, meta } = await told(gated(), "s__count", { caller: { dialect: "safe" } });
  expect(result).toMatchObject({ isError: true });
  expect(result).not.toHaveProperty("structuredContent");
  expect(meta).toMatchObject({ message: text, arguments: { path: "/a" }, wait: { tool: "mcpax__wait" } });
});

test("[B-CLIENT-2] a gate two trees below is told in the caller's names, not in those of the tree it stands in", async () => {
  const { principal } = callerOf();
  const bottom = testTree([serverOptions("s", inProcessServer({ tools }).open)], {
    gates: gates("ask"),
    segment: "b",
    hasParents: true,
  });
  const middle = testTree([serverOptions("b", openBelow(bottom.tree, principal), { isTrusted: true })], {
    gates: gates("allow"),
    segment: "m",
    hasParents: true,
  });
  const top = testTree([serverOptions("m", openBelow(middle.tree, principal), { isTrusted: true })], {
    gates: gates("allow"),
  });
  const caller = { caller: { dialect: "safe" } } as const;
  const { text, content, meta } = await told(top, "m__b__s__wipe", caller);
  const id = content?.confirmation_id;
  expect(text).toContain("m__b__s__wipe was not called");
  expect(text).toContain(`call the tool mcpax__wait with {"confirmation_id":"${id}"}`);
  expect([content, meta]).toMatchObject([{ message: text, tool: "s.wipe" }, { message: text }]);
  // Waited for from the top, it is told the same way again.
  const { tool: name, arguments: args } = (content?.wait ?? {}) as JsonObject;
  const again = await top.ask("tools/call", { name, arguments: args }, caller);
  expect(again.structuredContent).toMatchObject({ confirmation_id: id, message: text });
});
