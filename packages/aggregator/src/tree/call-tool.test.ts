import type { JsonObject } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { rpcError } from "../mcp/rpc-error.ts";
import { inProcessServer, serverOptions } from "../testing/in-process-server.ts";
import { testTree } from "../testing/test-tree.ts";

const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: "object" }, ...more });
const asks = { elicitation: {}, sampling: {}, roots: {} };

test("[AX-5.2-1] [AX-7.1-1] a call goes to its server under the server's own name, everything else as it came", async () => {
  const server = inProcessServer({ tools: [tool("doIt")] });
  const { ask } = testTree([serverOptions("s", server.open)]);
  const params = {
    name: "s.do_it",
    arguments: { deep: [1, { a: null }] },
    _meta: { own: 1 },
    "x-future": true,
  };
  await ask("tools/call", params);
  expect(server.asked.at(-1)?.params).toEqual({ ...params, name: "doIt" });
});

test("[AX-5.2-1] [AX-5.2-2] an unknown tool is -32601, and one that may not be seen looks the same", async () => {
  const server = inProcessServer({ tools: [tool("t")] });
  const { ask } = testTree([serverOptions("s", server.open)]);
  const refused = { code: "unknown_tool" };
  await expect(ask("tools/call", { name: "s.nope" })).rejects.toMatchObject(refused);
  await expect(ask("tools/call", { name: "nope" })).rejects.toMatchObject(refused);
  const hidden = ask("tools/call", { name: "s.t" }, { tools: ["other.*"] }).catch((error) => error.message);
  const absent = ask("tools/call", { name: "s.u" }, { tools: ["other.*"] }).catch((error) => error.message);
  expect(String(await hidden).replace("s.t", "")).toBe(String(await absent).replace("s.u", ""));
  expect(server.asked.filter(({ method }) => method === "tools/call")).toEqual([]);
});

test("[AX-7.2-3] a result passes as it came, also one that says it is an error", async () => {
  const result = {
    content: [{ type: "future", data: { a: 1 } }],
    structuredContent: { x: [1.5] },
    isError: true,
    _meta: { "vendor/x": 1 },
    "x-unknown": { y: 2 },
  };
  const server = inProcessServer({
    tools: [tool("t")],
    handle: ({ method }) => (method === "tools/call" ? result : (undefined as never)),
  });
  const { ask } = testTree([serverOptions("s", server.open)]);
  expect(await ask("tools/call", { name: "s.t" })).toEqual(result);
});

test("a server's own error passes as it came, with its code and data", async () => {
  const server = inProcessServer({
    tools: [tool("t")],
    handle({ method }) {
      if (method === "tools/call") throw rpcError(-31999, "own words", { own: "data" });
      return undefined as never;
    },
  });
  const { ask } = testTree([serverOptions("s", server.open)]);
  const fault = { code: -31999, message: "own words", data: { own: "data" } };
  await expect(ask("tools/call", { name: "s.t" })).rejects.toMatchObject({ fault });
});

test("[AX-7.2-5] a plain server sees nothing of the tree", async () => {
  const server = inProcessServer({ tools: [tool("t")] });
  const { ask } = testTree([serverOptions("s", server.open)]);
  const _meta = { "x-mcpax-route": ["a"], "X-MCPAX-Cursor": 1, "x-mcpax-event-id": "e", progress: 1 };
  await ask("tools/call", { name: "s.t", _meta });
  expect(server.asked.at(-1)?.params._meta).toEqual({ progress: 1 });
});

test("[AX-7.2-1] a tree below gets the route from the root, and the cursor past us", async () => {
  const below = inProcessServer({
    capabilities: { extensions: { "org.mcpax/aggregator": {} } },
    tools: [tool("edge.stm32h7.dma2d_status")],
  });
  const { ask } = testTree([serverOptions("region", below.open)], { segment: "infra" });
  await ask("tools/call", { name: "region.edge.stm32h7.dma2d_status" });
  expect(below.asked.at(-1)?.params).toMatchObject({
    name: "edge.stm32h7.dma2d_status",
    _meta: {
      "x-mcpax-route": ["infra", "region", "edge", "stm32h7", "dma2d_status"],
      "x-mcpax-cursor": 1,
    },
  });
});

test("[AX-7.2-1] a parent's route goes on with its cursor moved by one", async () => {
  const below = inProcessServer({
    capabilities: { extensions: { "org.mcpax/aggregator": {} } },
    tools: [tool("stub.t")],
  });
  const { ask } = testTree([serverOptions("edge", below.open)], { segment: "region" });
  const route = { "x-mcpax-route": ["infra", "region", "edge", "stub", "t"], "x-mcpax-cursor": 1 };
  await ask("tools/call", { name: "edge.stub.t", _meta: route }, { caller: { isParent: true } });
  expect(below.asked.at(-1)?.params._meta).toMatchObject({ ...route, "x-mcpax-cursor": 2 });
});

test.each([
  ["another hop's segment", { "x-mcpax-route": ["x", "other", "edge", "stub", "t"], "x-mcpax-cursor": 1 }],
  ["a cursor outside", { "x-mcpax-route": ["region", "edge", "stub", "t"], "x-mcpax-cursor": 9 }],
  ["a cursor that is no number", { "x-mcpax-route": ["region", "edge", "stub", "t"], "x-mcpax-cursor": "0" }],
  ["another tool", { "x-mcpax-route": ["region", "edge", "stub", "u"], "x-mcpax-cursor": 0 }],
  ["no list", { "x-mcpax-route": "region.edge.stub.t", "x-mcpax-cursor": 0 }],
  ["a cursor alone", { "x-mcpax-cursor": 0 }],
])("[AX-7.2-2] a parent's route with %s is refused", async (_what, route) => {
  const below = inProcessServer({
    capabilities: { extensions: { "org.mcpax/aggregator": {} } },
    tools: [tool("stub.t")],
  });
  const { ask } = testTree([serverOptions("edge", below.open)], { segment: "region" });
  const call = ask("tools/call", { name: "edge.stub.t", _meta: route }, { caller: { isParent: true } });
  await expect(call).rejects.toMatchObject({ code: "bad_route" });
});

test("[AX-7.2-2] the last tree before a plain server checks the route too", async () => {
  const plain = inProcessServer({ tools: [tool("t")] });
  const { ask } = testTree([serverOptions("s", plain.open)], { segment: "edge" });
  const call = (route: string[]) =>
    ask(
      "tools/call",
      { name: "s.t", _meta: { "x-mcpax-route": route, "x-mcpax-cursor": 1 } },
      { caller: { isParent: true } },
    );
  await expect(call(["root", "other", "s", "t"])).rejects.toMatchObject({ code: "bad_route" });
  await call(["root", "edge", "s", "t"]);
  expect(plain.asked.at(-1)?.params).toEqual({ name: "t" });
});

test("[AX-7.2-2] a route from anybody but a parent is not read", async () => {
  const below = inProcessServer({
    capabilities: { extensions: { "org.mcpax/aggregator": {} } },
    tools: [tool("t")],
  });
  const { ask } = testTree([serverOptions("edge", below.open)]);
  await ask("tools/call", { name: "edge.t", _meta: { "x-mcpax-route": ["forged"], "x-mcpax-cursor": 0 } });
  expect(below.asked.at(-1)?.params._meta).toEqual({
    "x-mcpax-route": ["edge", "t"],
    "x-mcpax-cursor": 0,
    "x-mcpax-asker": { name: "agent", keys: [] },
  });
});

test("[AX-7.3-1] [AX-7.3-2] a call that takes longer than its class is cancelled at the server and answered", async () => {
  let cancelled: unknown;
  const server = inProcessServer({
    tools: [tool("t", { _meta: { "x-mcpax-capability": { latency_class: "realtime" } } })],
    handle: ({ method, signal }) =>
      method === "tools/call"
        ? new Promise((_, reject) => {
            signal.addEventListener("abort", () => {
              cancelled = signal.reason;
              reject(signal.reason);
            });
          })
        : (undefined as never),
  });
  const { ask } = testTree([serverOptions("s", server.open)]);
  await expect(ask("tools/call", { name: "s.t" })).rejects.toMatchObject({
    code: "timeout",
    detail: expect.stringContaining("s did not answer tools/call within 500 ms"),
  });
  expect(cancelled).toMatchObject({ code: "timeout" });
});

test("[AX-7.3-1] progress makes a call's time begin again, and asking a human does not use it up", async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const server = inProcessServer({
    era: "legacy",
    tools: [tool("t")],
    async handle({ method, notify, ask }) {
      if (method !== "tools/call") return undefined as never;
      for (let i = 0; i < 4; i += 1) {
        await new Promise((resolve) => setTimeout(resolve, 60));
        notify("notifications/progress", { progress: i });
      }
      await ask({ q: { method: "elicitation/create" } });
      return { content: [] };
    },
  });
  const { ask } = testTree([serverOptions("s", server.open, { callMs: 150 })]);
  const notified: [string, JsonObject][] = [];
  const call = ask(
    "tools/call",
    { name: "s.t" },
    {
      notified,
      caller: { capabilities: asks },
      async answer() {
        await answered;
        return { q: { action: "accept" } };
      },
    },
  );
  setTimeout(answer, 400);
  expect(await call).toEqual({ content: [] });
  expect(notified).toHaveLength(4);
});

test("a caller who goes away cancels at the server", async () => {
  const { promise: reached, resolve } = Promise.withResolvers<void>();
  let isCancelled = false;
  const server = inProcessServer({
    tools: [tool("t")],
    handle: ({ method, signal }) =>
      method === "tools/call"
        ? new Promise((_, reject) => {
            resolve();
            signal.addEventListener("abort", () => {
              isCancelled = true;
              reject(signal.reason);
            });
          })
        : (undefined as never),
  });
  const { ask } = testTree([serverOptions("s", server.open)]);
  const gone = new AbortController();
  const call = ask("tools/call", { name: "s.t" }, { signal: gone.signal });
  await reached;
  gone.abort(new Error("gone"));
  await expect(call).rejects.toThrow("gone");
  expect(isCancelled).toBe(true);
});

test("a server that is down is named, with when to come back; others notice nothing", async () => {
  const dead = inProcessServer({
    opening() {
      throw new Error("x");
    },
  });
  const well = inProcessServer({ tools: [tool("t")] });
  const { ask } = testTree([serverOptions("dead", dead.open), serverOptions("well", well.open)]);
  await expect(ask("tools/call", { name: "dead.t" })).rejects.toMatchObject({
    code: "server_unreachable",
    detail: expect.stringContaining("dead"),
    retryAfterMs: 1_000,
  });
  await ask("tools/call", { name: "well.t" });
  // Who may not see it learns nothing.
  await expect(ask("tools/call", { name: "dead.t" }, { tools: ["well.*"] })).rejects.toMatchObject({
    code: "unknown_tool",
  });
});

test("a server that died is started again by the next call, with fresh definitions", async () => {
  const server = inProcessServer({ tools: [tool("t")] });
  const { ask } = testTree([serverOptions("s", server.open)]);
  await ask("tools/call", { name: "s.t" });
  server.die();
  await new Promise((resolve) => setImmediate(resolve));
  await ask("tools/call", { name: "s.t" });
  expect(server.openings).toHaveLength(2);
  expect(server.asked.filter(({ method }) => method === "tools/list")).toHaveLength(2);
});

test("legacy servers: callers who can be asked have conversations of their own, all others share one", async () => {
  const server = inProcessServer({ era: "legacy", tools: [tool("t")] });
  const { ask } = testTree([serverOptions("s", server.open)]);
  const call = (key: string, capabilities: object) =>
    ask("tools/call", { name: "s.t" }, { caller: { key, capabilities: capabilities as never } });
  await call("a", {});
  await call("b", {});
  expect(server.openings).toHaveLength(1);
  await call("a", asks);
  await call("b", asks);
  await call("a", asks);
  expect(server.openings.map(({ capabilities }) => capabilities)).toEqual([{}, asks, asks]);
});

test("modern servers: one conversation for all, each request with what its caller can", async () => {
  const server = inProcessServer({ tools: [tool("t")] });
  const { ask } = testTree([serverOptions("s", server.open)]);
  for (const capabilities of [{}, asks, { elicitation: { form: {} } }]) {
    await ask("tools/call", { name: "s.t" }, { caller: { key: JSON.stringify(capabilities), capabilities } });
    expect(server.asked.at(-1)?.capabilities).toEqual(capabilities);
  }
  expect(server.openings).toHaveLength(1);
});

test("a legacy client answers a modern server's questions, round after round, state untouched", async () => {
  const server = inProcessServer({
    tools: [tool("t")],
    handle({ method, params }) {
      if (method !== "tools/call") return undefined as never;
      const { requestState, inputResponses } = params;
      if (requestState === undefined) {
        return {
          resultType: "input_required",
          inputRequests: { name: { method: "elicitation/create", params: { message: "Name?" } } },
          requestState: "sealed·1",
        };
      }
      if (requestState === "sealed·1")
        return { resultType: "input_required", requestState: "sealed·2", inputRequests: {} };
      return { resultType: "complete", content: [], structuredContent: { requestState, inputResponses } };
    },
  });
  const { ask } = testTree([serverOptions("s", server.open)]);
  const asked: object[] = [];
  const result = await ask(
    "tools/call",
    { name: "s.t", arguments: { a: 1 } },
    {
      caller: { era: "legacy", capabilities: asks },
      answer(questions) {
        asked.push(questions);
        return { name: { action: "accept", content: { name: "Ada" } } };
      },
    },
  );
  expect(asked).toEqual([{ name: { method: "elicitation/create", params: { message: "Name?" } } }]);
  expect(result.structuredContent).toEqual({ requestState: "sealed·2", inputResponses: {} });
  const sent = server.asked.filter(({ method }) => method === "tools/call").map(({ params }) => params);
  expect(sent[1]).toMatchObject({
    arguments: { a: 1 },
    requestState: "sealed·1",
    inputResponses: { name: { action: "accept", content: { name: "Ada" } } },
  });
});

test("a modern client of a modern server gets the questions and sends the answers itself", async () => {
  const question = {
    resultType: "input_required",
    inputRequests: { q: { method: "roots/list" } },
    requestState: "s",
  };
  const server = inProcessServer({
    tools: [tool("t")],
    handle: ({ method }) => (method === "tools/call" ? question : (undefined as never)),
  });
  const { ask } = testTree([serverOptions("s", server.open)]);
  expect(await ask("tools/call", { name: "s.t" })).toEqual(question);
  const retry = { name: "s.t", inputResponses: { q: { roots: [] } }, requestState: "s" };
  await ask("tools/call", retry);
  expect(server.asked.at(-1)?.params).toEqual({ ...retry, name: "t" });
});

test("a server that never stops asking is stopped", async () => {
  const server = inProcessServer({
    tools: [tool("t")],
    handle: ({ method }) =>
      method === "tools/call"
        ? { resultType: "input_required", requestState: "again" }
        : (undefined as never),
  });
  const { ask } = testTree([serverOptions("s", server.open)]);
  const call = ask("tools/call", { name: "s.t" }, { caller: { era: "legacy" } });
  await expect(call).rejects.toMatchObject({ code: "bad_server_answer" });
});

test("a legacy server's wish that the caller visits an address is a question to a modern one", async () => {
  const elicitation = { mode: "url", elicitationId: "e1", url: "https://example.com/go", message: "Go" };
  const server = inProcessServer({
    era: "legacy",
    tools: [tool("t")],
    handle({ method }) {
      if (method === "tools/call") throw rpcError(-32042, "visit", { elicitations: [elicitation] });
      return undefined as never;
    },
  });
  const { ask } = testTree([serverOptions("s", server.open)]);
  expect(await ask("tools/call", { name: "s.t" })).toEqual({
    resultType: "input_required",
    inputRequests: { e1: { method: "elicitation/create", params: elicitation } },
  });
  const legacy = ask("tools/call", { name: "s.t" }, { caller: { era: "legacy" } });
  await expect(legacy).rejects.toMatchObject({ fault: { code: -32042 } });
});

test("[B-TREE-1] the address a server gives to one caller is told nobody in a room", async () => {
  const elicitations = [{ mode: "url", elicitationId: "e1", url: "https://example.com/go", message: "Go" }];
  const server = inProcessServer({
    era: "legacy",
    tools: [tool("t")],
    handle({ method }) {
      if (method === "tools/call") throw rpcError(-32042, "visit https://example.com/go", { elicitations });
      return undefined as never;
    },
  });
  const { ask } = testTree([serverOptions("s", server.open)]);
  for (const era of ["legacy", "modern"] as const) {
    const told = async (isPublic: boolean) =>
      JSON.stringify(
        await ask("tools/call", { name: "s.t" }, { caller: { era, isPublic } }).catch(({ fault }) => fault),
      );
    expect(await told(true)).toContain("at /mcp with a client of your own");
    expect(await told(true)).not.toContain("example.com");
    // Control.
    expect(await told(false)).toContain("example.com");
  }
});

test("a state that reaches a legacy server is none of ours", async () => {
  const server = inProcessServer({ era: "legacy", tools: [tool("t")] });
  const { ask } = testTree([serverOptions("s", server.open)]);
  await expect(ask("tools/call", { name: "s.t", requestState: "forged" })).rejects.toMatchObject({
    code: "state_unknown",
  });
  await ask("tools/call", { name: "s.t", inputResponses: { x: {} } });
  expect(server.asked.at(-1)?.params).toEqual({ name: "t" });
});

test("headers declared by a tool are made for callers without, and checked for those with", async () => {
  const inputSchema = { type: "object", properties: { city: { type: "string", "x-mcp-header": "City" } } };
  const server = inProcessServer({ tools: [tool("t", { inputSchema })] });
  const { ask } = testTree([serverOptions("s", server.open)]);
  const params = { name: "s.t", arguments: { city: "Zürich" } };
  await ask("tools/call", params);
  const made = server.asked.at(-1)?.paramHeaders;
  expect(made).toEqual({ "Mcp-Param-City": "=?base64?WsO8cmljaA==?=" });
  const given = { "mcp-param-city": "=?base64?WsO8cmljaA==?=", "mcp-param-other": "x" };
  await ask("tools/call", params, { paramHeaders: given });
  expect(server.asked.at(-1)?.paramHeaders).toEqual(given);
  for (const paramHeaders of [
    {},
    { "mcp-param-city": "Bern" },
    { "mcp-param-city": "=?base64?%?=" },
  ] as Record<string, string>[]) {
    await expect(ask("tools/call", params, { paramHeaders })).rejects.toMatchObject({
      fault: { code: -32020 },
    });
  }
});

test.each([[undefined], [5], [""], [null], [{}]])(
  "a call without a readable name (%j) is -32602",
  async (name) => {
    const { ask } = testTree([]);
    await expect(ask("tools/call", { name })).rejects.toMatchObject({ code: "bad_params" });
  },
);

test("an unknown method is refused by its name", async () => {
  const { ask } = testTree([]);
  await expect(ask("tools/steal")).rejects.toMatchObject({ code: "unknown_method" });
});
