import type { JsonObject } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { inProcessServer, type Script, serverOptions } from "../testing/in-process-server.ts";
import { callerOf, testTree } from "../testing/test-tree.ts";

const ownTools = ["mcpax.notifications_dropped", "mcpax.routes", "mcpax.status", "mcpax.subservers"];
const tool = (name: string) => ({ name, inputSchema: { type: "object" } });

function serverOf(name: string, script: Script = {}) {
  const server = inProcessServer({ tools: [tool("t")], ...script });
  return { server, options: serverOptions(name, server.open) };
}

/** A server whose calls end when the test says so. */
function slowServer(name: string) {
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const handle = async ({ method }: { method: string }) => {
    if (method !== "tools/call") return undefined as never;
    asked.resolve();
    await gate.promise;
    return { content: [{ type: "text", text: "done" }] };
  };
  return { ...serverOf(name, { handle }), finish: gate.resolve, asked: asked.promise };
}

const namesOf = (result: JsonObject) => (result.tools as { name: string }[]).map(({ name }) => name);

test("servers come and go, and what stays the same is not touched", async () => {
  const [a, b, c] = [serverOf("a"), serverOf("b"), serverOf("c")];
  const { tree, ask } = testTree([a.options, b.options]);
  await ask("tools/list");
  expect(tree.change({ servers: [{ ...a.options }, c.options] })).toEqual({
    added: ["c"],
    removed: ["b"],
    changed: [],
  });
  expect(namesOf(await ask("tools/list"))).toEqual(["a.t", "c.t", ...ownTools]);
  expect(a.server.openings).toHaveLength(1);
  await expect(ask("tools/call", { name: "b.t" })).rejects.toMatchObject({ code: "unknown_tool" });
});

test("what is different in any way is replaced, also at another segment and at the root", async () => {
  const { server, options } = serverOf("a");
  const { tree, ask } = testTree([options]);
  await ask("tools/list");
  const changed = { added: [], removed: [], changed: ["a"] };
  expect(tree.change({ servers: [{ ...options, callMs: 5 }] })).toEqual(changed);
  await ask("tools/call", { name: "a.t" });
  expect(server.openings).toHaveLength(2);
  expect(tree.change({ servers: [{ ...options, segment: "other" }] })).toEqual(changed);
  expect(namesOf(await ask("tools/list"))).toContain("other.t");
  expect(tree.change({ servers: [{ ...options, segment: undefined }] })).toEqual(changed);
  expect(namesOf(await ask("tools/list"))).toEqual([...ownTools, "t"]);
  expect(tree.change({ servers: [] })).toEqual({ added: [], removed: ["a"], changed: [] });
  expect(namesOf(await ask("tools/list"))).toEqual([...ownTools]);
});

test("two in one place are refused before anything has changed", async () => {
  const [a, b] = [serverOf("a"), serverOf("b")];
  const { tree, ask } = testTree([a.options]);
  expect(() => tree.change({ servers: [b.options, { ...a.options, segment: "b" }] })).toThrow(
    /the segment b/,
  );
  expect(() => tree.change({ servers: [{ ...a.options, segment: "mcpax" }] })).toThrow(/the segment mcpax/);
  expect(namesOf(await ask("tools/list"))).toContain("a.t");
});

test("a call on a server that stays notices nothing", async () => {
  const [slow, b] = [slowServer("slow"), serverOf("b")];
  const { tree, ask } = testTree([slow.options, b.options], { isRealTime: true });
  const call = ask("tools/call", { name: "slow.t" });
  await slow.asked;
  tree.change({ servers: [slow.options] });
  slow.finish();
  expect(await call).toMatchObject({ content: [{ text: "done" }] });
  expect(slow.server.openings).toHaveLength(1);
});

test.each([
  ["removed", () => []],
  ["changed", (options: ReturnType<typeof serverOf>["options"]) => [{ ...options, callMs: 60_000 }]],
])("a call on a server that is %s ends well, and then its conversation ends", async (_how, servers) => {
  const slow = slowServer("slow");
  let isClosed = false;
  const open: typeof slow.options.open = async (opening, taker) => {
    const link = await slow.options.open(opening, taker);
    void link.ended.then(() => {
      isClosed = true;
    });
    return link;
  };
  const options = { ...slow.options, open };
  const { tree, ask } = testTree([options], { isRealTime: true });
  const call = ask("tools/call", { name: "slow.t" });
  await slow.asked;
  tree.change({ servers: servers(options) });
  expect(tree.state.leaving.size).toBe(1);
  expect(isClosed).toBe(false);
  slow.finish();
  expect(await call).toMatchObject({ content: [{ text: "done" }] });
  await expect.poll(() => [isClosed, tree.state.leaving.size]).toEqual([true, 0]);
});

test("closing does not wait for what is leaving", async () => {
  const slow = slowServer("slow");
  const { tree, ask } = testTree([slow.options], { isRealTime: true });
  ask("tools/call", { name: "slow.t" }).catch(() => {});
  await slow.asked;
  tree.change({ servers: [] });
  await tree.close();
  await expect.poll(() => tree.state.leaving.size).toBe(0);
  slow.finish();
});

test("closing gives up what is being opened", async () => {
  const opening = async ({ signal }: { signal: AbortSignal }) => {
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  };
  const { tree, ask } = testTree([serverOf("mute", { opening }).options], { isRealTime: true });
  const call = ask("tools/call", { name: "mute.t" });
  await tree.close();
  await expect(call).rejects.toMatchObject({ code: "server_unreachable" });
});

test("subscribers are told, and resources are watched at the server that takes the place", async () => {
  const resources = [{ uri: "x://a", name: "a" }];
  const [old, young] = [serverOf("s", { resources }), serverOf("s", { resources })];
  const { tree } = testTree([old.options]);
  const heard: string[] = [];
  const wishes = { toolsListChanged: true, resourceSubscriptions: ["mcpx://s/x://a"] };
  const { granted } = await tree.subscribe(callerOf(), wishes, (method, { uri }) => {
    heard.push(`${method.slice(14)} ${uri ?? ""}`);
  });
  expect(granted.resourceSubscriptions).toEqual(["mcpx://s/x://a"]);
  tree.change({ servers: [young.options] });
  await expect.poll(() => young.server.watched.at(-1)).toEqual(new Set(["x://a"]));
  young.server.takers[0]?.notification("notifications/resources/updated", { uri: "x://a" });
  await expect.poll(() => heard).toContain("resources/updated mcpx://s/x://a");
  await expect.poll(() => heard).toContain("tools/list_changed ");
  tree.change({ servers: [] });
  expect([...tree.state.subscribers][0]?.watches).toEqual([]);
});

test("profiles change for those who hold them; one that is gone shows nothing", async () => {
  const { options } = serverOf("a", { tools: [tool("t"), tool("u")] });
  const { tree, ask } = testTree([options]);
  tree.change({ servers: [options], profiles: [{ name: "p", tools: ["a.*"] }] });
  const profile = tree.profiles.get("p");
  const seen = async () => namesOf(await ask("tools/list", {}, { caller: { profile } }));
  expect(await seen()).toEqual(["a.t", "a.u"]);
  tree.change({ servers: [options], profiles: [{ name: "p", tools: ["a.t"] }] });
  expect(await seen()).toEqual(["a.t"]);
  tree.change({ servers: [options] });
  expect(await seen()).toEqual(["a.t"]);
  tree.change({ servers: [options], profiles: [] });
  expect(await seen()).toEqual([]);
  expect(tree.profiles.get("p")).toBeUndefined();
});
