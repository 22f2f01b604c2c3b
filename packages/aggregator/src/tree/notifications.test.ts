import { type JsonObject, treeNotifications } from "@mcpx/protocol";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { LinkTaker } from "../links/link.ts";
import type { FlowLimits } from "../notifications/notification-flow.ts";
import { tellOfServer } from "../notifications/tell.ts";
import type { Server } from "../servers/server.ts";
import { type InProcessServer, inProcessServer, serverOptions } from "../testing/in-process-server.ts";
import { openBelow } from "../testing/nested.ts";
import { callerOf, type TestTree, testTree } from "../testing/test-tree.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Told = [method: string, params: JsonObject];

const principal = callerOf().principal;
const routed = (...route: string[]) => ({ _meta: { "x-mcpax-route": route } });
const numbersOf = (told: readonly Told[]) => told.map(([, { n }]) => n as number);
const { subserverLost, notificationOverflow } = treeNotifications;
const isOverflow = ([method]: Told) => method === notificationOverflow;

/** What a tree above is told from now on; and somebody who is none. */
async function listen(
  { tree }: TestTree,
  more: { tools?: readonly string[]; isParent?: boolean } = {},
): Promise<Told[]> {
  const told: Told[] = [];
  const { tools = ["**"], isParent = true } = more;
  const caller = callerOf({ tools, caller: { isParent, key: String(Math.random()) } });
  await tree.subscribe(caller, { toolsListChanged: true }, (...one) => void told.push(one));
  return told;
}

/** Opens a conversation with every server, and gives back what the server speaks through. */
async function voiceOf(tree: TestTree, server: InProcessServer): Promise<LinkTaker> {
  await tree.ask("tools/list");
  return server.takers.at(-1) as LinkTaker;
}

function leafTree(name = "leaf", notifications: Partial<FlowLimits> = {}) {
  const leaf = inProcessServer({ tools: [{ name: "t", inputSchema: { type: "object" } }] });
  const tree = testTree([serverOptions(name, leaf.open)], { segment: "n", isRealTime: true, notifications });
  return { leaf, tree };
}

/** A leaf below a tree below a tree …; the root last. */
function chain(...segments: readonly string[]) {
  const [leafSegment = "", ...above] = segments;
  const { leaf, tree } = leafTree(leafSegment);
  const trees = [tree];
  for (const segment of above) {
    const open = openBelow((trees.at(-1) as TestTree).tree, principal);
    trees.push(testTree([serverOptions(segment, open)], { isRealTime: true }));
  }
  return { leaf, trees, root: trees.at(-1) as TestTree };
}

test("[AX-12-1] a notification reaches the root with the whole way it came, and under its own name", async () => {
  const { leaf, root } = chain("stm32", "edge", "infra");
  const told = await listen(root);
  const voice = await voiceOf(root, leaf);
  voice.notification("notifications/message", { level: "info", logger: "app", data: { n: 1 } });
  voice.notification("notifications/foo", { n: 2 });
  await vi.advanceTimersByTimeAsync(10);
  expect(told).toEqual([
    [
      "notifications/message",
      { level: "info", logger: "infra.edge.stm32.app", data: { n: 1 }, ...routed("infra", "edge", "stm32") },
    ],
    ["infra.edge.stm32.notifications/foo", { n: 2, ...routed("infra", "edge", "stm32") }],
  ]);
});

test("[AX-12-1] trees above hear of it once each; who is none, or may not know of the server, not at all", async () => {
  const { leaf, tree } = leafTree();
  const above = await listen(tree);
  const client = await listen(tree, { isParent: false });
  const elsewhere = await listen(tree, { tools: ["other.**"] });
  const twice: Told[] = [];
  const caller = callerOf({ caller: { isParent: true, key: "one" } });
  for (const wishes of [{ toolsListChanged: true }, { promptsListChanged: true }]) {
    await tree.tree.subscribe(caller, wishes, (...one) => void twice.push(one));
  }
  const voice = await voiceOf(tree, leaf);
  voice.notification("notifications/message", { data: 1 });
  const expected = [["notifications/message", { data: 1, ...routed("leaf") }]];
  expect([above, client, elsewhere, twice]).toEqual([expected, [], [], expected]);
});

test("[AX-12-1] updates of resources go up by their subscription, with the way they came", async () => {
  const { leaf, root } = chain("stm32", "edge", "infra");
  const told: Told[] = [];
  const caller = callerOf({ caller: { isParent: true } });
  const uri = "mcpx://infra/mcpx://edge/mcpx://stm32/file:///a";
  await root.tree.subscribe(caller, { resourceSubscriptions: [uri] }, (...one) => void told.push(one));
  await vi.advanceTimersByTimeAsync(10);
  leaf.takers.at(-1)?.notification("notifications/resources/updated", { uri: "file:///a" });
  leaf.takers.at(-1)?.notification("notifications/resources/updated", { uri: "file:///b" });
  await vi.advanceTimersByTimeAsync(10);
  expect(told).toEqual([["notifications/resources/updated", { uri, ...routed("infra", "edge", "stm32") }]]);
});

test("[AX-12-1] what belongs to a request, a hop or somebody's task does not go up", async () => {
  const { leaf, tree } = leafTree();
  const told = await listen(tree);
  const voice = await voiceOf(tree, leaf);
  for (const what of ["cancelled", "progress", "tasks/status", "subscriptions/acknowledged"]) {
    voice.notification(`notifications/${what}`, { taskId: "t", requestId: 1 });
  }
  await vi.advanceTimersByTimeAsync(10);
  expect(told).toEqual([]);
});

test("[AX-12-3] [AX-12-5] an effect whose cause nobody knows passes at once, untouched, and in its place", async () => {
  const { leaf, root } = chain("stm32", "edge", "infra");
  const told = await listen(root);
  const voice = await voiceOf(root, leaf);
  const cause = { "x-mcpax-event-id": "7d4a…", "x-mcpax-causal-parent": null };
  const effect = { "x-mcpax-event-id": "91cc…", "x-mcpax-causal-parent": "7d4a…" };
  voice.notification("notifications/message", { n: 1, _meta: effect });
  voice.notification("notifications/message", { n: 2 });
  voice.notification("notifications/message", { n: 3, ...cause });
  await Promise.resolve();
  await vi.advanceTimersByTimeAsync(0);
  const { _meta } = routed("infra", "edge", "stm32");
  expect(told.map(([, params]) => params)).toEqual([
    { n: 1, _meta: { ...effect, ..._meta } },
    { n: 2, _meta },
    { n: 3, ...cause, _meta },
  ]);
});

test("[AX-12-2] [AX-12-6] [AX-12-7] [AX-12-8] a storm of 10 000 a second: order kept, all accounted for, told of", async () => {
  const { leaf, trees, root } = chain("stm32", "edge", "infra");
  const told = await listen(root);
  const voice = await voiceOf(root, leaf);
  const startedAt = performance.now();
  for (let ms = 0, n = 0; ms < 2_000; ms += 10) {
    for (let i = 0; i < 100; i += 1, n += 1) voice.notification("notifications/message", { n });
    await vi.advanceTimersByTimeAsync(10);
  }
  expect(numbersOf(told.filter((one) => !isOverflow(one))).length).toBeLessThanOrEqual(300);
  await vi.advanceTimersByTimeAsync(30_000);
  const numbers = numbersOf(told.filter((one) => !isOverflow(one)));
  expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  const counts = await Promise.all(trees.map((one) => droppedAt(one)));
  expect(counts[0]).toEqual({
    total: 20_000 - numbers.length,
    subservers: { stm32: 20_000 - numbers.length },
    missed_by_clients: 0,
  });
  expect(counts.slice(1)).toEqual([
    { total: 0, subservers: {}, missed_by_clients: 0 },
    { total: 0, subservers: {}, missed_by_clients: 0 },
  ]);
  expect(numbers.length).toBeGreaterThanOrEqual(1_100);
  const notices = told.filter(isOverflow).map(([, params]) => params);
  expect(notices.length).toBeGreaterThan(0);
  expect(notices.length).toBeLessThanOrEqual((performance.now() - startedAt) / 1_000);
  expect(notices.length).toBeLessThanOrEqual(3);
  const dropped = notices.map((params) => params.dropped as number);
  expect(dropped.reduce((sum, count) => sum + count, 0)).toBe(20_000 - numbers.length);
  expect(notices.at(-1)).toEqual({
    segment: "infra.edge.stm32",
    dropped: dropped.at(-1),
    dropped_total: 20_000 - numbers.length,
    ...routed("infra", "edge", "stm32"),
  });
});

test("[AX-12-2] one server's storm delays no other; a hundred a second are nothing to tell of", async () => {
  const storm = inProcessServer({});
  const calm = inProcessServer({});
  const tree = testTree([serverOptions("storm", storm.open), serverOptions("calm", calm.open)], {
    isRealTime: true,
  });
  const told = await listen(tree);
  const voice = await voiceOf(tree, storm);
  for (let n = 0; n < 5_000; n += 1) voice.notification("notifications/message", { n });
  calm.takers.at(-1)?.notification("notifications/message", { n: -1 });
  expect(told.at(-1)).toEqual(["notifications/message", { n: -1, ...routed("calm") }]);
  expect(told).toHaveLength(101);
  for (let n = 0; n < 300; n += 1) {
    calm.takers.at(-1)?.notification("notifications/message", { n });
    await vi.advanceTimersByTimeAsync(10);
  }
  expect(await droppedAt(tree)).toEqual({
    total: 3_900,
    subservers: { storm: 3_900 },
    missed_by_clients: 0,
  });
});

test("[AX-12-2] [AX-12-6] rate and buffer can be set", async () => {
  const { leaf, tree } = leafTree("leaf", { ratePerSecond: 2, waitingMax: 3 });
  const told = await listen(tree);
  const voice = await voiceOf(tree, leaf);
  for (let n = 0; n < 10; n += 1) voice.notification("notifications/message", { n });
  expect(numbersOf(told)).toEqual([0, 1]);
  await vi.advanceTimersByTimeAsync(2_100);
  expect(numbersOf(told.filter((one) => !isOverflow(one)))).toEqual([0, 1, 7, 8, 9]);
});

test("[AX-12-2] [AX-12-6] a server's own rate and buffer count instead, and others from when it is replaced", async () => {
  const [slow, other] = [inProcessServer({}), inProcessServer({})];
  const own = { notifications: { ratePerSecond: 2, waitingMax: 3 } };
  const tree = testTree([serverOptions("slow", slow.open, own), serverOptions("other", other.open)], {
    isRealTime: true,
  });
  const told = await listen(tree);
  const say = (voice: LinkTaker | undefined, count: number) => {
    for (let n = 0; n < count; n += 1) voice?.notification("notifications/message", { n });
  };
  await voiceOf(tree, slow);
  say(slow.takers.at(-1), 10);
  say(other.takers.at(-1), 50);
  expect(told).toHaveLength(2 + 50);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(told.filter((one) => !isOverflow(one))).toHaveLength(2 + 50 + 3);
  told.length = 0;
  const faster = serverOptions("slow", slow.open, { notifications: { ratePerSecond: 20 } });
  tree.tree.change({ servers: [faster, serverOptions("other", other.open)] });
  await voiceOf(tree, slow);
  await vi.advanceTimersByTimeAsync(1_000);
  told.length = 0;
  say(slow.takers.at(-1), 30);
  expect(told).toHaveLength(20);
});

test("[AX-12-2] changes of lists are merged, and are no part of the hundred", async () => {
  const { leaf, tree } = leafTree();
  const told = await listen(tree);
  const voice = await voiceOf(tree, leaf);
  for (let n = 0; n < 1_000; n += 1) voice.notification("notifications/tools/list_changed", {});
  for (let n = 0; n < 100; n += 1) voice.notification("notifications/message", { n });
  expect(told).toHaveLength(100);
  await vi.advanceTimersByTimeAsync(100);
  expect(told.slice(100)).toEqual([["notifications/tools/list_changed", {}]]);
});

test("[AX-12-2] a server that comes back has no new allowance, and what it said before goes first", async () => {
  const { leaf, tree } = leafTree();
  const told = await listen(tree);
  const before = await voiceOf(tree, leaf);
  for (let n = 0; n < 150; n += 1) before.notification("notifications/message", { n });
  leaf.die();
  await vi.advanceTimersByTimeAsync(10);
  const after = await voiceOf(tree, leaf);
  expect(after).not.toBe(before);
  for (let n = 150; n < 200; n += 1) after.notification("notifications/message", { n });
  await vi.advanceTimersByTimeAsync(2_000);
  expect(numbersOf(told.filter(([method]) => method === "notifications/message"))).toEqual([
    ...Array(200).keys(),
  ]);
});

test("[AX-12-4] [AX-13.1-1] a lost server far below is heard of at the root, also in a storm", async () => {
  const { leaf, trees, root } = chain("stm32", "edge", "infra");
  const told = await listen(root);
  const voice = await voiceOf(root, leaf);
  for (let n = 0; n < 2_000; n += 1) voice.notification("notifications/message", { n });
  const lost = { segment: "stm32", reason: "subserver_unreachable", since: "2030-01-01T00:00:00.000Z" };
  const { state } = (trees[0] as TestTree).tree;
  tellOfServer(state, state.bySegment.get("stm32") as Server, subserverLost, lost);
  await vi.advanceTimersByTimeAsync(1);
  expect(told.filter(([method]) => method === subserverLost)).toEqual([
    [subserverLost, { ...lost, segment: "infra.edge.stm32", ...routed("infra", "edge", "stm32") }],
  ]);
});

test("[AX-12-4] only trees are believed what they say of servers, and only of those below them", async () => {
  const { leaf, tree } = leafTree();
  const told = await listen(tree);
  const voice = await voiceOf(tree, leaf);
  voice.notification(subserverLost, { segment: "other" });
  voice.notification(notificationOverflow, { segment: "leaf", dropped: 1, dropped_total: 1 });
  await vi.advanceTimersByTimeAsync(2_000);
  expect(told).toEqual([]);
  const [server] = [...tree.tree.state.bySegment.values()].filter(({ name }) => name === "leaf");
  expect(server?.stderrTail.list().map(({ line }) => line)).toEqual([
    `(not believed, and dropped: "${subserverLost}")`,
    `(not believed, and dropped: "${notificationOverflow}")`,
  ]);

  // The same words of a tree.
  const below = inProcessServer({ capabilities: { extensions: { "org.mcpax/aggregator": {} } } });
  const above = testTree([serverOptions("edge", below.open)], { isRealTime: true });
  const believed = await listen(above);
  const treeVoice = await voiceOf(above, below);
  treeVoice.notification(subserverLost, { segment: "other" });
  treeVoice.notification(subserverLost, { segment: "../../root" });
  await vi.advanceTimersByTimeAsync(1);
  expect(believed).toEqual([[subserverLost, { segment: "edge.other", ...routed("edge", "other") }]]);
});

test("what is nested too deeply to be written again is dropped and counted", async () => {
  const { leaf, tree } = leafTree();
  const told = await listen(tree);
  const voice = await voiceOf(tree, leaf);
  let data: JsonObject = {};
  for (let depth = 0; depth < 10_000; depth += 1) data = { data };
  voice.notification("notifications/message", { data });
  expect(told).toEqual([]);
  expect(await droppedAt(tree)).toEqual({ total: 1, subservers: { leaf: 1 }, missed_by_clients: 0 });
});

async function droppedAt({ ask }: TestTree): Promise<unknown> {
  return (await ask("tools/call", { name: "mcpax.notifications_dropped" })).structuredContent;
}
