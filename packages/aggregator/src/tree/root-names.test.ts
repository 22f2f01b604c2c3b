// Names with the root's segment, as clients, people and policy see them.
import { type AuditEvent, createManualClock } from "@mcpx/host";
import type { JsonObject } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { createSqlitePinStore } from "../catalogue/pin-store-sqlite.ts";
import { createGatekeeper, type Gatekeeper, type GateOptions } from "../gates/gatekeeper.ts";
import { addGrant } from "../gates/grants/grants.ts";
import { createSqliteGateStore } from "../gates/store/gate-store-sqlite.ts";
import { inProcessServer, serverOptions } from "../testing/in-process-server.ts";
import { openBelow } from "../testing/nested.ts";
import { openTreeState } from "../testing/open-tree-state.ts";
import { callerOf, type TestExchange, type TestTree, testTree } from "../testing/test-tree.ts";

const tool = (name: string, more: JsonObject = {}) => ({ name, inputSchema: { type: "object" }, ...more });
type Options = NonNullable<Parameters<typeof testTree>[1]>;

/** The draft's example: a root `infra`, below it `edge`, below that `stm32h7`. */
function draft(options: Options = {}) {
  const stub = inProcessServer({ tools: [tool("dma2d_status")], prompts: [{ name: "ask" }] });
  const edge = testTree([serverOptions("stm32h7", stub.open, { isTrusted: true })], {
    segment: "edge",
    hasParents: true,
  });
  const below = serverOptions("edge", openBelow(edge.tree, callerOf().principal), { isTrusted: true });
  return { ...testTree([below], { segment: "infra", ...options }), stub };
}

const full = "infra.edge.stm32h7.dma2d_status";
const short = "edge.stm32h7.dma2d_status";

async function names({ ask }: TestTree, more: Partial<TestExchange> = {}, method = "tools/list") {
  const { tools, prompts } = await ask(method, {}, more);
  return ((tools ?? prompts) as JsonObject[]).map(({ name }) => String(name));
}

test("[AX-3.1-1] [AX-4.1-1] the draft's name is listed, and called by it or without the root's segment", async () => {
  const tree = draft();
  expect(await names(tree, { tools: ["edge.stm32h7.*"] })).toEqual([full]);
  expect(await names(tree, {}, "prompts/list")).toEqual(["infra.edge.stm32h7.ask"]);
  for (const name of [full, short]) {
    await tree.ask("tools/call", { name, arguments: { name } });
    expect(tree.stub.asked.at(-1)?.params).toEqual({ name: "dma2d_status", arguments: { name } });
  }
  expect(await names(tree)).toContain("mcpax.status");
  expect(await names(tree)).toContain("infra.edge.mcpax.status");
  await tree.ask("tools/call", { name: "infra.mcpax.status" });
});

test.each(["safe", "strict"] as const)(
  "[AX-4.1-1] the %s dialect renders the whole name, and understands it without the root",
  async (dialect) => {
    const tree = draft();
    const caller = { caller: { dialect }, tools: ["edge.stm32h7.*"] };
    expect(await names(tree, caller)).toEqual(["infra__edge__stm32h7__dma2d_status"]);
    for (const name of ["infra__edge__stm32h7__dma2d_status", "edge__stm32h7__dma2d_status", full, short]) {
      await tree.ask("tools/call", { name, arguments: { name } }, caller);
      expect(tree.stub.asked.at(-1)?.params).toMatchObject({ arguments: { name } });
    }
  },
);

test("[AX-3.1-1] a tree with parents adds no segment of its own, nor for a parent or in a room", async () => {
  expect(await names(draft({ hasParents: true }), { tools: ["edge.stm32h7.*"] })).toEqual([short]);
  for (const caller of [{ isParent: true }, { isPublic: true }]) {
    const tree = draft();
    expect(await names(tree, { caller, tools: ["edge.stm32h7.*"] })).toEqual([short]);
    // What a room's policy says of a name must not be evaded by another spelling of it.
    await expect(tree.ask("tools/call", { name: full }, { caller })).rejects.toMatchObject({
      code: "unknown_tool",
    });
  }
});

test("[AX-3.1-1] tokens and profiles match with and without the root's segment, and no more than that", async () => {
  const tree = draft({ profiles: [{ name: "p", tools: ["infra.edge.stm32h7.*"] }] });
  for (const glob of [
    short,
    full,
    "edge.**",
    "infra.edge.**",
    "**",
    "infra.**",
    "edge.*.*",
    "infra.edge.*.*",
  ])
    expect(await names(tree, { tools: [glob] }), glob).toContain(full);
  for (const glob of [
    "infra",
    "infra.*",
    "*.edge.**",
    "*.*.*.*",
    "infra.infra.**",
    "infra.stm32h7.**",
    "inf*.edge.**",
  ])
    expect(await names(tree, { tools: [glob] }), glob).not.toContain(full);
  const profile = tree.tree.profiles.get("p");
  expect(await names(tree, { caller: { profile } })).toEqual([full]);
});

test("[AX-3.1-1] in a token from before, the root's segment is the segment of a server: it opens no more than it did", async () => {
  const tree = draft({ rootSince: 5_000 });
  const old = { tools: ["infra.**"], principal: { issuedAt: 4_999 } };
  expect(await names(tree, old)).toEqual([]);
  await expect(tree.ask("tools/call", { name: full }, old)).rejects.toMatchObject({ code: "unknown_tool" });
  expect(await names(tree, { tools: ["edge.stm32h7.*"], principal: { issuedAt: 4_999 } })).toEqual([full]);
  expect(await names(tree, { tools: ["infra.edge.stm32h7.*"], principal: { issuedAt: 5_000 } })).toEqual([
    full,
  ]);
});

test("[AX-3.1-1] a server with the root's own name is told apart: its names have both segments", async () => {
  const twin = inProcessServer({ tools: [tool("x")] });
  const other = inProcessServer({ tools: [tool("x")] });
  const tree = testTree([serverOptions("infra", twin.open), serverOptions("x", other.open)], {
    segment: "infra",
  });
  expect(await names(tree, { tools: ["infra.infra.*"] })).toEqual(["infra.infra.x"]);
  await tree.ask("tools/call", { name: "infra.infra.x" });
  expect(twin.asked.filter(({ method }) => method === "tools/call")).toHaveLength(1);
  // One reading, whatever servers there are: `infra.x` is the root's x, never the twin's.
  await expect(tree.ask("tools/call", { name: "infra.x" })).rejects.toMatchObject({ code: "unknown_tool" });
  await tree.ask("tools/call", { name: "infra.x.x" });
  expect(other.asked.filter(({ method }) => method === "tools/call")).toHaveLength(1);
  expect(twin.asked.filter(({ method }) => method === "tools/call")).toHaveLength(1);
});

test("[AX-4.1-2] a name longer than 255 with the root's segment is left out and reported", async () => {
  const root = "r".repeat(63);
  const dots = (length: number) => `${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(length - 128)}`;
  const below = inProcessServer({
    capabilities: { extensions: { "org.mcpax/aggregator": {} } },
    // With `rrr….s.` before them: 255, 256.
    tools: [tool(dots(189)), tool(dots(190))],
  });
  const tree = testTree([serverOptions("s", below.open)], { segment: root });
  expect(await names(tree, { tools: ["s.**"] })).toEqual([`${root}.s.${dots(189)}`]);
  const { structuredContent } = await tree.ask("tools/call", { name: "mcpax.status" });
  const { servers, segment } = structuredContent as { servers: JsonObject[]; segment: string };
  expect(segment).toBe(root);
  expect(servers.find(({ name }) => name === "s")?.left_out).toEqual([
    expect.stringContaining("longer than 255"),
  ]);
});

test("[AX-3.1-1] [AX-4.1-1] what is mounted at the root stands right behind its segment", async () => {
  const mounted = inProcessServer({ tools: [tool("getWeather")] });
  const tree = testTree([serverOptions("w", mounted.open, { segment: undefined })], { segment: "infra" });
  expect(await names(tree, { tools: ["*"] })).toEqual(["infra.get_weather"]);
  for (const name of ["infra.get_weather", "get_weather", "getWeather"])
    await tree.ask("tools/call", { name });
  expect(mounted.asked.filter(({ method }) => method === "tools/call")).toHaveLength(3);
});

test("[AX-3.1-1] the routing table and the audit have the whole name", async () => {
  const events: AuditEvent[] = [];
  const record = (event: AuditEvent) => void events.push(event);
  const tree = draft({ audit: { record } as never });
  const { structuredContent } = await tree.ask("tools/call", { name: "mcpax.routes" });
  expect((structuredContent as { routes: JsonObject }).routes[full]).toMatchObject({
    downstream_name: "stm32h7.dma2d_status",
  });
  await tree.ask("tools/call", { name: short });
  expect(events.at(-1)).toMatchObject({ action: "tool.call", subject: full });
});

function gatekeeper(options: Partial<GateOptions> = {}): Gatekeeper {
  return createGatekeeper({
    aggregatorId: "a",
    store: createSqliteGateStore({ db: openTreeState(), clock: createManualClock(), rootSegment: "infra" }),
    rules: [],
    unannotated: "allow",
    anchors: [],
    holdMs: 0,
    holdWithProgressMs: 0,
    approveUrl: (id) => `http://127.0.0.1/approve/${id}`,
    ...options,
  });
}

test.each([short, full, "edge.**", "infra.edge.**"])(
  "[AX-3.1-1] [AX-11.3-7] a gate's rule for %s matches, and what waits has the whole name",
  async (glob) => {
    const gates = gatekeeper({ rules: [{ tools: glob, action: "ask" }] });
    const tree = draft({ gates });
    const asked = await tree.ask("tools/call", { name: short });
    expect(asked.structuredContent).toMatchObject({
      status: "confirmation_required",
      tool: full,
      route: ["infra", "edge", "stm32h7", "dma2d_status"],
    });
    expect((await gates.store.list()).map((gate) => gate.tool)).toEqual([full]);
  },
);

test.each(["*.edge.**", "infra.infra.**", "infra.*"])(
  "[AX-3.1-1] [AX-11.3-7] a rule for %s does not match it",
  async (glob) => {
    const tree = draft({
      gates: gatekeeper({
        rules: [
          { tools: glob, action: "deny" },
          { tools: "**", action: "allow" },
        ],
      }),
    });
    await tree.ask("tools/call", { name: full });
    expect(tree.stub.asked.at(-1)?.method).toBe("tools/call");
  },
);

test.each([short, full])("[AX-3.1-1] a grant for %s lets the call go on", async (tools) => {
  const gates = gatekeeper({ rules: [{ tools: "**", action: "ask" }] });
  addGrant(
    gates.grants,
    { id: "g", principal: "agent", tools, usesLeft: 1, grantedBy: "ann", reason: "" },
    0,
  );
  const tree = draft({ gates });
  await tree.ask("tools/call", { name: full });
  expect(tree.stub.asked.at(-1)?.method).toBe("tools/call");
  expect((await tree.ask("tools/call", { name: full })).structuredContent).toMatchObject({ tool: full });
});

test("[AX-3.1-1] [AX-11.3-5] a call that waited before the root had a segment is joined, not asked for twice", async () => {
  const db = openTreeState();
  const store = (rootSegment?: string) =>
    createSqliteGateStore({ db, clock: createManualClock(), rootSegment });
  const wish = { principal: "agent", session: "s", keys: [], tool: short, argumentsText: "{}", digest: "d" };
  const more = { route: [], capability: {} as never, why: "irreversible", approvers: 1 } as const;
  const { gate } = await store().open({ ...wish, ...more }, 60_000);
  const joined = await store("infra").open({ ...wish, ...more, tool: full }, 60_000);
  expect(joined).toMatchObject({ isNew: false, gate: { id: gate.id, tool: full } });
  expect(await store("infra").findOpen({ principal: "agent", tool: full, digest: "d" })).toMatchObject({
    id: gate.id,
  });
  expect((await store("plant").list()).map(({ tool }) => tool)).toEqual([`plant.${short}`]);
});

test("[AX-3.1-1] a pinned tool that changes is named in full, to whoever spells it either way", async () => {
  const pins = createSqlitePinStore(openTreeState());
  const items = [tool("t", { description: "one" })];
  const server = inProcessServer({ tools: items });
  await names(testTree([serverOptions("s", server.open)], { pins }));
  items[0] = tool("t", { description: "two" });
  const tree = testTree([serverOptions("s", server.open)], { pins, segment: "infra" });
  expect(await names(tree, { tools: ["s.*"] })).toEqual([]);
  for (const name of ["infra.s.t", "s.t"])
    await expect(tree.ask("tools/call", { name })).rejects.toMatchObject({
      code: "tool_quarantined",
      detail: "infra.s.t",
    });
});
