import { McpxError } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { createSqlitePinStore } from "../catalogue/pin-store-sqlite.ts";
import type { LinkRequest } from "../links/link.ts";
import { RpcError, rpcCodes } from "../mcp/rpc-error.ts";
import type { Opening, OpenServer } from "../servers/server.ts";
import { inProcessServer, type Script, serverOptions } from "../testing/in-process-server.ts";
import { openTreeState } from "../testing/open-tree-state.ts";
import { callerOf, testTree } from "../testing/test-tree.ts";

const tool = { name: "t", inputSchema: { type: "object" } };
const asked = { era: "legacy", capabilities: { elicitation: {} } } as const;

/** One server with two endpoints; `legacy` may refuse. */
function bothEras(legacy: Script = {}, modern: Script = {}, more: Parameters<typeof serverOptions>[2] = {}) {
  const said =
    (era: string) =>
    ({ method }: LinkRequest) =>
      (method === "tools/call" ? { content: [{ type: "text", text: era }] } : undefined) as never;
  const roomEndpoints = {
    modern: inProcessServer({ era: "modern", tools: [tool], handle: said("modern"), ...modern }),
    legacy: inProcessServer({ era: "legacy", tools: [tool], handle: said("legacy"), ...legacy }),
  };
  const open: OpenServer = (opening, taker) => roomEndpoints[opening.era ?? "modern"].open(opening, taker);
  const { ask, tree, clock } = testTree([serverOptions("s", open, more)]);
  const call = async (caller = {}, name = "s.t") => {
    const result = await ask("tools/call", { name }, { caller });
    return (result.content as { text: string }[])[0]?.text;
  };
  const server = () => {
    const found = tree.state.bySegment.get("s");
    if (found === undefined) throw new Error("there is none");
    return found;
  };
  return { ...roomEndpoints, ask, tree, clock, call, server };
}

const ada = { ...asked, key: "ada" };
const bob = { ...asked, key: "bob" };
const refused = () => {
  const cause = new RpcError({ code: rpcCodes.unsupportedVersion, message: "no" });
  throw new McpxError("bad_server_answer", "s: it refused to be opened", { cause });
};

test("a legacy caller that can be asked is spoken for in its era, all others in the modern one", async () => {
  const { call, legacy, modern } = bothEras();
  expect(await call(ada)).toBe("legacy");
  expect(await call(bob)).toBe("legacy");
  expect(await call({ era: "legacy", key: "carol" })).toBe("modern");
  expect(await call({ era: "modern", key: "dan", capabilities: { elicitation: {} } })).toBe("modern");
  expect(legacy.openings).toHaveLength(2);
  expect(modern.openings).toHaveLength(1);
  expect(legacy.openings[0]).toMatchObject({ isEraFixed: true, capabilities: { elicitation: {} } });
});

test("lists, watches and completions begin no second conversation", async () => {
  const resources = [{ uri: "note://1", name: "one" }];
  const { ask, tree, legacy, modern } = bothEras({ resources }, { resources });
  await ask("tools/list", {}, { caller: ada });
  await ask("resources/list", {}, { caller: ada });
  const caller = callerOf({ caller: ada });
  await tree.subscribe(caller, { resourceSubscriptions: ["mcpx://s/note://1"] }, () => true);
  expect(legacy.openings).toHaveLength(0);
  expect(modern.watched.at(-1)).toEqual(new Set(["note://1"]));
  // The first call begins it, and what is watched moves there: that is where its calls change something.
  await ask("tools/call", { name: "s.t" }, { caller: ada });
  await expect.poll(() => legacy.watched.at(-1)).toEqual(new Set(["note://1"]));
  expect(modern.watched.at(-1)).toEqual(new Set());
});

test.each([
  ["refuses it", { opening: refused }],
  ["is a modern one after all", { era: "modern" }],
  ["cannot be opened in it", { opening: () => Promise.reject(new McpxError("server_unreachable", "s: no")) }],
] satisfies [string, Script][])("a server that %s is called in the modern era", async (_, legacy) => {
  const { call, server, clock } = bothEras({ handle: () => undefined as never, ...legacy });
  expect(await call(ada)).not.toBe("legacy");
  expect(server()).toMatchObject({ era: "modern", fault: undefined, speaksBoth: false });
  clock.advance(1_000);
  expect(await call(ada)).not.toBe("legacy");
});

test("a refusal is tried once, not with every call, and is nobody else's", async () => {
  const opened: Opening[] = [];
  const { call } = bothEras({
    opening(opening) {
      opened.push(opening);
      if (opening.capabilities.sampling !== undefined) refused();
    },
  });
  const mallory = { ...ada, key: "mallory", capabilities: { sampling: { odd: 1 } } };
  const asMallory = { ...mallory, principal: { ...callerOf().principal, id: "mallory" } };
  expect([await call(asMallory), await call(asMallory)]).toEqual(["modern", "modern"]);
  expect(opened).toHaveLength(1);
  expect(await call(ada)).toBe("legacy");
});

test("what only the modern era lists is called in it", async () => {
  const other = { ...tool, name: "other" };
  const { call } = bothEras({}, { tools: [tool, other] });
  expect(await call(ada, "s.other")).toBe("modern");
  expect(await call(ada, "s.t")).toBe("legacy");
});

test("the end of a caller's own conversation is told to that caller, and changes no list", async () => {
  const { call, legacy, tree, server } = bothEras();
  const heard: string[] = [];
  const deliver = (method: string) => heard.push(method);
  await call({ ...ada, deliver });
  const news: string[] = [];
  await tree.subscribe(callerOf(), { toolsListChanged: true, unasked: true }, (method) => news.push(method));
  legacy.die();
  await expect.poll(() => heard).toEqual(["notifications/mcpax/subserver_lost"]);
  expect(server().degraded).toBeUndefined();
  expect(news).toEqual([]);
  expect(await call(ada)).toBe("legacy");
});

test("it ends with its caller's session, and with its server", async () => {
  const { call, tree, server } = bothEras();
  await call(ada);
  await call(bob);
  expect(server().links.size).toBeGreaterThan(2);
  tree.leave(callerOf({ caller: ada }));
  expect([...server().links.values()].filter(({ owner }) => owner?.key === "ada")).toEqual([]);
  expect([...server().links.values()].filter(({ owner }) => owner?.key === "bob")).toHaveLength(1);
});

test("however many there are, the conversation that everybody uses stays", async () => {
  const { call, server, modern } = bothEras();
  await call({ era: "modern" });
  const shared = server().links.get("");
  for (let n = 0; n < 70; n += 1) await call({ ...asked, key: `caller ${n}` });
  expect(server().links.size).toBeLessThanOrEqual(64);
  expect(server().links.get("")).toBe(shared);
  expect(modern.openings).toHaveLength(1);
});

test("a server set to one era begins no other conversation", async () => {
  const modern = bothEras({}, {}, { eraWanted: "modern" });
  expect(await modern.call(ada)).toBe("modern");
  const legacy = bothEras({}, {}, { eraWanted: "legacy" });
  expect([await legacy.call(ada), await legacy.call({ era: "modern" })]).toEqual(["legacy", "legacy"]);
  expect(legacy.modern.openings).toHaveLength(0);
});

test("a legacy server that refuses one client is not down for the others", async () => {
  const only = inProcessServer({
    era: "legacy",
    tools: [tool],
    opening({ capabilities }) {
      if (capabilities.sampling !== undefined) refused();
    },
  });
  const { ask, tree } = testTree([serverOptions("s", only.open)]);
  const principal = { ...callerOf().principal, id: "mallory" };
  const mallory = { ...ada, key: "mallory", capabilities: { sampling: {} }, principal };
  for (let n = 0; n < 3; n += 1) {
    await expect(ask("tools/call", { name: "s.t" }, { caller: mallory })).rejects.toThrow();
    expect(tree.state.bySegment.get("s")?.fault).toBeUndefined();
    await expect(ask("tools/call", { name: "s.t" }, { caller: ada })).resolves.toBeDefined();
  }
});

test("fields that only one era has quarantine nothing", async () => {
  const other = { ...tool, name: "other", execution: { taskSupport: "required" } };
  const own = inProcessServer({
    era: "legacy",
    tools: [{ ...tool, execution: { taskSupport: "optional" } }, other],
  });
  const all = inProcessServer({ tools: [tool, { ...tool, name: "other" }] });
  const open: OpenServer = (opening, taker) => (opening.era === "legacy" ? own : all).open(opening, taker);
  const { ask } = testTree([serverOptions("s", open)], { pins: createSqlitePinStore(openTreeState()) });
  const names = async () => {
    const { tools } = await ask("tools/list", {}, { caller: ada });
    return (tools as { name: string }[]).map(({ name }) => name).filter((name) => name.startsWith("s."));
  };
  expect(await names()).toEqual(["s.other", "s.t"]);
  await ask("tools/call", { name: "s.t" }, { caller: ada });
  own.takers[0]?.notification("notifications/tools/list_changed", {});
  expect(await names()).toEqual(["s.other", "s.t"]);
  expect(own.asked.filter(({ method }) => method === "tools/list")).toHaveLength(2);
});
