import type { JsonObject } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { inProcessServer, type Script, serverOptions } from "../testing/in-process-server.ts";
import { testTree } from "../testing/test-tree.ts";
import type { Overrides, ToolOverride } from "./overrides.ts";

const tool = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  inputSchema: { type: "object" },
  ...more,
});

interface Setting extends Omit<Overrides, "tools"> {
  tools?: Record<string, ToolOverride>;
}

function treeWith({ tools = {}, ...lists }: Setting, script: Script, more: JsonObject = {}) {
  const server = inProcessServer(script);
  const overrides = { tools: new Map(Object.entries(tools)), ...lists };
  const { ask } = testTree([serverOptions("s", server.open, { overrides, ...more })]);
  return {
    server,
    ask,
    listed: async () => (await ask("tools/list", {}, { tools: ["**"] })).tools as JsonObject[],
    names: async () =>
      ((await ask("tools/list", {}, { tools: ["s.**"] })).tools as JsonObject[]).map(({ name }) => name),
    async status() {
      const { structuredContent } = await ask("tools/call", { name: "mcpax.status" });
      return (structuredContent as { servers: JsonObject[] }).servers.find(({ name }) => name === "s");
    },
  };
}

test("what is not allowed, denied or disabled is neither shown nor callable, and counted", async () => {
  const { names, status, ask } = treeWith(
    {
      allow: ["read_*", "write"],
      deny: ["*_secret"],
      tools: { write: { enabled: false }, other: { enabled: true } },
    },
    { tools: ["read_a", "read_secret", "write", "drop", "other"].map((name) => tool(name)) },
  );
  expect(await names()).toEqual(["s.other", "s.read_a"]);
  for (const name of ["s.read_secret", "s.write", "s.drop"])
    await expect(ask("tools/call", { name })).rejects.toMatchObject({ code: "unknown_tool" });
  expect(await status()).toMatchObject({ tools: 2, disabled: 3 });
});

test("text is shown as it is set, and the rest as the server says", async () => {
  const { listed } = treeWith(
    { tools: { a: { description: "mine", title: "Mine" } } },
    { tools: [tool("a", { description: "theirs", icons: [1] }), tool("b", { description: "theirs" })] },
  );
  const [a, b] = (await listed()).filter(({ name }) => String(name).startsWith("s."));
  expect(a).toMatchObject({ name: "s.a", description: "mine", title: "Mine", icons: [1] });
  expect(b).toMatchObject({ description: "theirs" });
  expect(b).not.toHaveProperty("title");
});

test("a new name counts for lists, calls and permissions; the server hears its own", async () => {
  const { ask, names, server } = treeWith(
    { tools: { readFile: { name: "read" } } },
    { tools: [tool("readFile")] },
  );
  expect(await names()).toEqual(["s.read"]);
  await ask("tools/call", { name: "s.read" }, { tools: ["s.read"] });
  expect(server.asked.at(-1)?.params.name).toBe("readFile");
  await expect(ask("tools/call", { name: "s.read_file" }, { tools: ["s.read_file"] })).rejects.toMatchObject({
    code: "unknown_tool",
  });
  const root = treeWith({ tools: { a: { name: "b" } } }, { tools: [tool("a")] }, { segment: undefined });
  expect((await root.listed()).map(({ name }) => name)).toContain("b");
});

test("two tools may change names; one that would take another's is left out and named", async () => {
  const swapped = treeWith(
    { tools: { a: { name: "b" }, b: { name: "a" } } },
    { tools: [tool("a"), tool("b")] },
  );
  await swapped.ask("tools/call", { name: "s.a" });
  expect(swapped.server.asked.at(-1)?.params.name).toBe("b");
  const clash = treeWith({ tools: { a: { name: "b" } } }, { tools: [tool("a"), tool("b")] });
  await clash.ask("tools/call", { name: "s.b" });
  expect(clash.server.asked.at(-1)?.params.name).toBe("b");
  expect((await clash.status())?.left_out).toEqual(["a: another tool is called b"]);
  const instead = treeWith(
    { tools: { a: { name: "b" }, b: { enabled: false } } },
    { tools: [tool("a"), tool("b")] },
  );
  await instead.ask("tools/call", { name: "s.b" });
  expect(instead.server.asked.at(-1)?.params.name).toBe("a");
});

test("no tool comes to another's name because that one was disabled or renamed", async () => {
  const tools = [tool("get_it"), tool("getIt")];
  const before = await treeWith({}, { tools }).names();
  expect(before).toHaveLength(2);
  const marked = before.find((name) => name !== "s.get_it");
  expect(await treeWith({ tools: { get_it: { enabled: false } } }, { tools }).names()).toEqual([marked]);
  expect(await treeWith({ tools: { get_it: { name: "x" } } }, { tools }).names()).toEqual([marked, "s.x"]);
});

test("fixed arguments are not shown, and win over the caller's", async () => {
  const inputSchema = {
    type: "object",
    properties: { path: { type: "string" }, depth: { type: "number" }, constructor: { type: "string" } },
    required: ["path", "depth"],
    additionalProperties: false,
  };
  const { ask, listed, server } = treeWith(
    { tools: { a: { arguments: { path: "/srv", constructor: "x" } } } },
    { tools: [tool("a", { inputSchema })] },
  );
  expect((await listed()).find(({ name }) => name === "s.a")?.inputSchema).toEqual({
    type: "object",
    properties: { depth: { type: "number" } },
    required: ["depth"],
    additionalProperties: false,
  });
  const sent = () => server.asked.at(-1)?.params.arguments;
  await ask("tools/call", { name: "s.a", arguments: { path: "/etc", depth: 2 } });
  expect(sent()).toEqual({ path: "/srv", depth: 2, constructor: "x" });
  await ask("tools/call", { name: "s.a" });
  expect(sent()).toEqual({ path: "/srv", constructor: "x" });
  const trap = JSON.parse('{"__proto__": {"path": "/etc"}, "path": "/etc"}');
  await ask("tools/call", { name: "s.a", arguments: trap });
  expect(JSON.stringify(sent())).toBe('{"__proto__":{"path":"/etc"},"path":"/srv","constructor":"x"}');
  await expect(ask("tools/call", { name: "s.a", arguments: [1] })).rejects.toMatchObject({
    code: "bad_params",
  });
});

test("a fixed argument's header is ours to write", async () => {
  const inputSchema = {
    type: "object",
    properties: {
      region: { type: "string", "x-mcp-header": "Region" },
      team: { type: "string", "x-mcp-header": "Team" },
    },
  };
  const { ask, server } = treeWith(
    { tools: { a: { arguments: { region: "eu" } } } },
    { tools: [tool("a", { inputSchema })] },
  );
  const sent = () => server.asked.at(-1)?.paramHeaders;
  await ask("tools/call", { name: "s.a", arguments: { team: "red" } });
  expect(sent()).toEqual({ "Mcp-Param-Region": "eu", "Mcp-Param-Team": "red" });
  const paramHeaders = { "mcp-param-team": "red", "mcp-param-region": "us", "mcp-param-own": "1" };
  await ask("tools/call", { name: "s.a", arguments: { team: "red" } }, { paramHeaders });
  expect(sent()).toEqual({ "Mcp-Param-Region": "eu", "mcp-param-team": "red", "mcp-param-own": "1" });
});

test("[AX-9.2-2] the operator says what a plain server's tool is; what a tree said may only become stricter", async () => {
  const annotation = { "x-mcpax-capability": { mutable: true, reversible: true, cost_class: "metered" } };
  const tools = [tool("a", { _meta: { ...annotation, "x-mcpax-safety": "irreversible_mutable" } })];
  const capability = { mutable: false, reversible: false, cost_class: "expensive" } as const;
  const setting = { tools: { a: { capability } } };
  const shown = async (script: Script) => {
    const { listed } = treeWith(setting, script, { isTrusted: true });
    return (await listed()).find(({ name }) => name === "s.a")?._meta as JsonObject;
  };
  const plain = await shown({ tools });
  expect(plain["x-mcpax-believed"]).toMatchObject(capability);
  expect(plain).not.toHaveProperty("x-mcpax-safety");
  const below = await shown({ tools, capabilities: { extensions: { "org.mcpax/aggregator": {} } } });
  expect(below["x-mcpax-believed"]).toMatchObject({
    mutable: true,
    reversible: false,
    cost_class: "expensive",
  });
  expect(below["x-mcpax-safety"]).toBe("irreversible_mutable");
});

test("what is set in vain is said", async () => {
  const { status, names } = treeWith(
    { tools: { nope: { enabled: false }, a: { arguments: { ghost: 1 } } } },
    { tools: [tool("a", { inputSchema: { type: "object", properties: { real: {} } } })] },
  );
  expect(await names()).toEqual(["s.a"]);
  expect((await status())?.override_faults).toEqual([
    "nope: its server has no tool of this name",
    "a: it has no argument ghost",
  ]);
  const tree = treeWith(
    { tools: { "x.a": { name: "b" } } },
    { tools: [tool("x.a")], capabilities: { extensions: { "org.mcpax/aggregator": {} } } },
  );
  expect(await tree.names()).toEqual(["s.x.a"]);
  expect((await tree.status())?.override_faults).toEqual([
    "x.a: a tool of a tree below can only be renamed in that tree",
  ]);
});
