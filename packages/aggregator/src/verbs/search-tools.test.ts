import { isObject, type JsonObject } from "@mcpx/protocol";
import { expect, test } from "vitest";
import type { Profile } from "../mcp/profile.ts";
import { inProcessServer, type Script, serverOptions } from "../testing/in-process-server.ts";
import { type TestExchange, testTree } from "../testing/test-tree.ts";

const schema = { type: "object", properties: { path: { type: "string" }, head: {} }, required: ["path"] };
const tools = [
  { name: "readFile", description: "Reads a file", inputSchema: schema },
  { name: "write_file", description: "Writes a file", inputSchema: schema },
  { name: "secret_file", description: "Reads a secret file", inputSchema: schema },
];

function searching(script: Script = {}, profile: Partial<Profile> = {}) {
  const server = inProcessServer({ tools, ...script });
  const { ask, tree } = testTree([serverOptions("fs", server.open)]);
  const search = { name: "small", tools: ["fs.*"], search: true, ...profile };
  const use = (name: string, args: JsonObject, more: Partial<TestExchange> = {}) =>
    ask("tools/call", { name, arguments: args }, { ...more, caller: { profile: search, ...more.caller } });
  const found = async (query: string, more: Partial<TestExchange> = {}) => {
    const { structuredContent } = await use("find_tools", { query }, more);
    const all = isObject(structuredContent) ? (structuredContent.tools as JsonObject[]) : [];
    return all.map(({ name }) => name);
  };
  return { server, ask, tree, use, found, search };
}

test("three tools stand for all, in every dialect", async () => {
  const { ask, search } = searching();
  const { tools } = await ask("tools/list", {}, { caller: { profile: search, dialect: "strict" } });
  expect((tools as JsonObject[]).map(({ name }) => name)).toEqual([
    "find_tools",
    "describe_tool",
    "call_tool",
  ]);
});

test("what is found has its name as the client sees it, and the names of its arguments", async () => {
  const { use } = searching();
  const caller = { dialect: "safe" } as const;
  const { content, structuredContent } = await use(
    "find_tools",
    { query: "read a file", limit: 1 },
    { caller },
  );
  expect(structuredContent).toEqual({
    tools: [{ name: "fs__read_file", description: "Reads a file", arguments: ["path", "head?"] }],
  });
  expect(content).toEqual([{ type: "text", text: "- fs__read_file(path, head?): Reads a file" }]);
});

test("profiles and tokens bound what can be found, described and called", async () => {
  const { found, use } = searching({}, { tools: ["fs.read_file", "fs.secret_file"] });
  expect(await found("file")).toEqual(["fs.read_file", "fs.secret_file"]);
  const token = { tools: ["fs.read_*", "mcpax.*"] };
  expect(await found("file", token)).toEqual(["fs.read_file"]);
  expect(await found("status", token)).toEqual([]);
  const hidden = await use("call_tool", { name: "fs.secret_file" }, token);
  const absent = await use("call_tool", { name: "fs.nothing_file" }, token);
  expect(hidden.isError).toBe(true);
  expect(JSON.stringify(hidden).replace("secret", "nothing")).toBe(JSON.stringify(absent));
  expect(await use("describe_tool", { name: "fs.write_file" }, token)).toMatchObject({ isError: true });
});

test("a tool is described as the list would", async () => {
  const { ask, use } = searching();
  const { tools: listed } = await ask("tools/list");
  const { structuredContent } = await use("describe_tool", { name: "fs.read_file" });
  expect(structuredContent).toEqual((listed as JsonObject[]).find(({ name }) => name === "fs.read_file"));
});

test("a call goes the usual way: meta, answers and state of a retry, progress, questions, result", async () => {
  const result = { content: [], structuredContent: { a: 1 }, isError: true, "x-own": 1 };
  const { server, use, ask, search } = searching({
    async handle({ method, notify, ask: askBack }) {
      if (method !== "tools/call") return undefined as never;
      notify("notifications/progress", { progress: 1 });
      return { ...result, answers: await askBack({ q: { method: "roots/list" } }) };
    },
  });
  const notified: [string, JsonObject][] = [];
  const answer = () => ({ q: { roots: [] } });
  const called = await use(
    "call_tool",
    { name: "fs.read_file", arguments: { path: "a" } },
    { notified, answer },
  );
  expect(called).toEqual({ ...result, answers: { q: { roots: [] } } });
  expect(notified).toEqual([["notifications/progress", { progress: 1 }]]);
  const retry = { inputResponses: { q: {} }, requestState: "s", _meta: { own: 1 } };
  const params = {
    name: "call_tool",
    arguments: { name: "fs__write_file", arguments: { path: "b" } },
    ...retry,
  };
  await ask("tools/call", params, { caller: { profile: search, dialect: "safe" }, answer, paramHeaders: {} });
  expect(server.asked.at(-1)?.params).toEqual({ name: "write_file", arguments: { path: "b" }, ...retry });
});

test("a tool can still be called by its own name", async () => {
  const { server, use } = searching();
  await use("fs.read_file", { path: "a" });
  expect(server.asked.at(-1)?.params).toMatchObject({ name: "readFile" });
});

test("headers a tool's arguments are mirrored into are made from the inner arguments", async () => {
  const properties = { region: { type: "string", "x-mcp-header": "Region" } };
  const { server, ask, search } = searching({
    tools: [{ name: "deploy", inputSchema: { type: "object", properties } }],
  });
  const params = { name: "call_tool", arguments: { name: "fs.deploy", arguments: { region: "eu" } } };
  await ask("tools/call", params, { caller: { profile: search }, paramHeaders: {} });
  expect(server.asked.at(-1)?.paramHeaders).toEqual({ "Mcp-Param-Region": "eu" });
});

test.each([
  ["find_tools", {}, /query must be a string/],
  ["find_tools", { query: "file", limit: 0 }, /limit must be/],
  ["find_tools", { query: "file", limit: "3" }, /limit must be/],
  ["describe_tool", {}, /name must be a string/],
  ["describe_tool", { name: "fs.raed_file" }, /no tool "fs.raed_file". Did you mean fs\.\w+_file/],
  ["call_tool", { name: "fs.read_file", arguments: "{}" }, /arguments must be an object/],
  ["call_tool", { name: "zzz" }, /Look for it with find_tools/],
])("%s with %j is a mistake the model can read", async (name, args, text) => {
  const { use } = searching();
  const { isError, content } = await use(name, args);
  expect(isError).toBe(true);
  expect((content as JsonObject[])[0]?.text).toMatch(text);
});

test("nothing found says what to do, and a server that is down is an error as always", async () => {
  const { use } = searching();
  const { content, isError } = await use("find_tools", { query: "quux" });
  expect([isError, (content as JsonObject[])[0]?.text]).toEqual([
    undefined,
    expect.stringMatching(/^None of the 3/),
  ]);
  const failing = searching({
    handle({ method }) {
      if (method === "tools/call") throw new Error("gone");
      return undefined as never;
    },
  });
  await expect(failing.use("call_tool", { name: "fs.read_file" })).rejects.toThrow("gone");
});

test("without search, the three are tools like any others, and here there are none", async () => {
  const { use } = searching({}, { search: false });
  await expect(use("find_tools", { query: "file" })).rejects.toMatchObject({ code: "unknown_tool" });
});
