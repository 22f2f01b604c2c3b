import type { JsonObject } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { rpcError } from "../mcp/rpc-error.ts";
import { inProcessServer, serverOptions } from "../testing/in-process-server.ts";
import { callerOf, testTree } from "../testing/test-tree.ts";

function shelf(text: string) {
  return inProcessServer({
    resources: [{ uri: "note://1", name: "one" }],
    templates: [{ uriTemplate: "note://{id}/page", name: "page" }],
    prompts: [{ name: "greet" }],
    handle({ method, params }) {
      if (method === "resources/read")
        return { contents: [{ uri: params.uri, text: `${text} ${params.uri}` }] };
      if (method === "prompts/get") return { messages: [], description: `${text} ${params.name}` };
      if (method === "completion/complete") return { completion: { values: [JSON.stringify(params.ref)] } };
      return undefined as never;
    },
  });
}

test("[B-TREE-2] two servers with the same URI both work", async () => {
  const { ask } = testTree([serverOptions("a", shelf("A").open), serverOptions("b", shelf("B").open)]);
  const listed = (await ask("resources/list")).resources as JsonObject[];
  expect(listed.map(({ uri }) => uri)).toEqual(["mcpx://a/note://1", "mcpx://b/note://1"]);
  for (const { uri } of listed) {
    const { contents, ttlMs, cacheScope } = await ask("resources/read", { uri });
    const name = String(uri).startsWith("mcpx://a/") ? "A" : "B";
    expect(contents).toEqual([{ uri, text: `${name} note://1` }]);
    expect([ttlMs, cacheScope]).toEqual([0, "private"]);
  }
  const templates = (await ask("resources/templates/list")).resourceTemplates as JsonObject[];
  expect(templates.map(({ uriTemplate }) => uriTemplate)).toEqual([
    "mcpx://a/note://{id}/page",
    "mcpx://b/note://{id}/page",
  ]);
});

test("[B-TREE-2] a bare URI, as results link to it, is read where only one server can have it", async () => {
  const other = inProcessServer({});
  const { ask } = testTree([serverOptions("a", shelf("A").open), serverOptions("b", other.open)]);
  expect((await ask("resources/read", { uri: "note://1" })).contents).toEqual([
    { uri: "note://1", text: "A note://1" },
  ]);
  expect((await ask("resources/read", { uri: "note://7/page" })).contents).toMatchObject([
    { text: "A note://7/page" },
  ]);
  await expect(ask("resources/read", { uri: "else://1" })).rejects.toMatchObject({
    code: "unknown_resource",
  });
});

test("[B-TREE-2] a bare URI several servers have is refused with the names to use", async () => {
  const { ask } = testTree([serverOptions("a", shelf("A").open), serverOptions("b", shelf("B").open)]);
  await expect(ask("resources/read", { uri: "note://1" })).rejects.toMatchObject({
    code: "ambiguous_name",
    detail: "mcpx://a/note://1, mcpx://b/note://1",
  });
});

test("a resource of a server the caller may not read from looks like none", async () => {
  const { ask } = testTree([serverOptions("a", shelf("A").open)]);
  for (const uri of ["mcpx://a/note://1", "note://1"]) {
    await expect(ask("resources/read", { uri }, { tools: ["a.greet"] })).rejects.toMatchObject({
      code: "unknown_resource",
    });
  }
});

test("a legacy server's number for a resource nobody has becomes the modern one for modern callers", async () => {
  const server = inProcessServer({
    era: "legacy",
    handle({ method }) {
      if (method === "resources/read") throw rpcError(-32002, "none", { uri: "x://" });
      return undefined as never;
    },
  });
  const { ask } = testTree([serverOptions("a", server.open)]);
  const read = (era: "legacy" | "modern") =>
    ask("resources/read", { uri: "mcpx://a/x://" }, { caller: { era } });
  await expect(read("modern")).rejects.toMatchObject({ fault: { code: -32602, data: { uri: "x://" } } });
  await expect(read("legacy")).rejects.toMatchObject({ fault: { code: -32002 } });
});

test("[B-TREE-2] prompts and completions find their server by name and URI", async () => {
  const { ask } = testTree([serverOptions("a", shelf("A").open), serverOptions("b", shelf("B").open)]);
  expect(await ask("prompts/get", { name: "b.greet" })).toMatchObject({ description: "B greet" });
  await expect(ask("prompts/get", { name: "b.nope" })).rejects.toMatchObject({ code: "unknown_prompt" });
  const complete = async (ref: object) => {
    const { completion } = await ask("completion/complete", { ref, argument: { name: "x", value: "" } });
    return JSON.parse((completion as { values: string[] }).values[0] ?? "");
  };
  expect(await complete({ type: "ref/prompt", name: "a.greet" })).toEqual({
    type: "ref/prompt",
    name: "greet",
  });
  expect(await complete({ type: "ref/resource", uri: "mcpx://a/note://{id}/page" })).toEqual({
    type: "ref/resource",
    uri: "note://{id}/page",
  });
  await expect(ask("completion/complete", { ref: { type: "ref/else" } })).rejects.toMatchObject({
    code: "bad_params",
  });
});

test("[B-TREE-2] who watches a resource is told of it in its own words, and nobody else is", async () => {
  const server = shelf("A");
  const { tree } = testTree([serverOptions("a", server.open), serverOptions("b", shelf("B").open)]);
  const heard: [string, string, JsonObject][] = [];
  const watch = (key: string, uri: string) =>
    tree.subscribe(callerOf({ caller: { key } }), { resourceSubscriptions: [uri] }, (method, params) =>
      heard.push([key, method, params]),
    );
  const first = await watch("x", "mcpx://a/note://1");
  await watch("y", "mcpx://b/note://1");
  expect(first.granted).toEqual({ resourceSubscriptions: ["mcpx://a/note://1"] });
  expect(server.watched.at(-1)).toEqual(new Set(["note://1"]));
  server.takers[0]?.notification("notifications/resources/updated", { uri: "note://1", title: "t" });
  server.takers[0]?.notification("notifications/resources/updated", { uri: "note://2" });
  const told = { uri: "mcpx://a/note://1", title: "t", _meta: { "x-mcpax-route": ["a"] } };
  expect(heard).toEqual([["x", "notifications/resources/updated", told]]);
  first.close();
  expect(server.watched.at(-1)).toEqual(new Set());
});

test("a resource nobody has: a modern client is granted the rest, a legacy one is told", async () => {
  const { tree } = testTree([serverOptions("a", shelf("A").open)]);
  const subscribe = (era: "legacy" | "modern") =>
    tree.subscribe(
      callerOf({ caller: { era } }),
      { resourceSubscriptions: ["mcpx://nowhere/x", "mcpx://a/note://1"] },
      () => {},
    );
  const { granted } = await subscribe("modern");
  expect(granted).toEqual({ resourceSubscriptions: ["mcpx://a/note://1"] });
  await expect(subscribe("legacy")).rejects.toMatchObject({ code: "unknown_resource" });
  expect(tree.state.subscribers.size).toBe(1);
});

test("what was watched is watched again after the server has come back", async () => {
  const server = shelf("A");
  const { tree } = testTree([serverOptions("a", server.open)]);
  const heard: JsonObject[] = [];
  await tree.subscribe(callerOf(), { resourceSubscriptions: ["mcpx://a/note://1"] }, (_, params) =>
    heard.push(params),
  );
  server.die();
  await expect.poll(() => server.watched).toHaveLength(2);
  server.takers.at(-1)?.notification("notifications/resources/updated", { uri: "note://1" });
  expect(heard).toMatchObject([{ uri: "mcpx://a/note://1" }]);
});

test("many changes at once are one piece of news, to those who wished for it", async () => {
  const server = shelf("A");
  const { tree, ask } = testTree([serverOptions("a", server.open)]);
  await ask("tools/list");
  const heard: string[] = [];
  await tree.subscribe(callerOf(), { toolsListChanged: true }, (method) => heard.push(`a ${method}`));
  await tree.subscribe(callerOf(), { promptsListChanged: true }, (method) => heard.push(`b ${method}`));
  for (let i = 0; i < 50; i += 1) server.takers[0]?.notification("notifications/tools/list_changed", {});
  await expect.poll(() => heard).toHaveLength(1);
  server.takers[0]?.notification("notifications/prompts/list_changed", {});
  await expect.poll(() => heard).toHaveLength(2);
  expect(heard).toEqual(["a notifications/tools/list_changed", "b notifications/prompts/list_changed"]);
});

test("tasks: ids lead back to their server and open for nobody else", async () => {
  const asked: JsonObject[] = [];
  const server = inProcessServer({
    tools: [{ name: "t", inputSchema: { type: "object" } }],
    handle({ method, params }) {
      if (method === "tools/call") return { resultType: "task", taskId: "~own~", status: "working" };
      if (!method.startsWith("tasks/")) return undefined as never;
      asked.push(params);
      return { resultType: "complete", taskId: params.taskId, status: "completed" };
    },
  });
  const { ask } = testTree([serverOptions("s", server.open)]);
  const caller = { capabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } };
  const { taskId } = await ask("tools/call", { name: "s.t" }, { caller });
  expect(taskId).toMatch(/^s~[\w-]{16}~~own~$/);
  const got = await ask("tasks/get", { taskId }, { caller });
  expect(got).toMatchObject({ taskId, status: "completed" });
  await ask("tasks/cancel", { taskId }, { caller });
  expect(asked).toEqual([{ taskId: "~own~" }, { taskId: "~own~" }]);
  await expect(ask("tasks/get", { taskId })).rejects.toMatchObject({ fault: { code: -32021 } });
  await expect(ask("tasks/result", { taskId }, { caller })).rejects.toMatchObject({ code: "unknown_method" });
  const stranger = { principal: { id: "mallory" }, caller };
  for (const forged of [taskId, "s~AAAAAAAAAAAAAAAA~~own~", "~own~", "s~", ""]) {
    const attempt = ask("tasks/get", { taskId: forged }, stranger);
    await expect(attempt).rejects.toMatchObject({ code: "bad_params" });
  }
  expect(asked).toHaveLength(2);
});
