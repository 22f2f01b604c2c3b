// Servers that keep lists waiting, and servers that say all the time that their lists have changed.
import type { JsonObject } from "@mcpx/protocol";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { LinkRequest } from "../links/link.ts";
import { inProcessServer, type Script, serverOptions } from "../testing/in-process-server.ts";
import { callerOf, testTree } from "../testing/test-tree.ts";
import type { RunningTree } from "../tree/create-tree.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const tool = (name: string) => ({ name, inputSchema: { type: "object" } });
const methods = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];

/** Answers no list until it is let. */
function hanging(script: Script = {}, mutes: readonly string[] = methods) {
  const { promise, resolve: wake } = Promise.withResolvers<void>();
  const server = inProcessServer({
    tools: [tool("t")],
    ...script,
    async handle({ method }: LinkRequest) {
      if (mutes.includes(method)) await promise;
      return undefined as never;
    },
  });
  return { ...server, wake, isAsked: () => server.asked.filter(({ signal }) => !signal.aborted).length };
}

async function namesOf(listing: Promise<JsonObject>, key = "tools"): Promise<unknown[]> {
  const { [key]: items } = await listing;
  return (items as { name: string }[]).map(({ name }) => name).filter((name) => !name.startsWith("mcpax"));
}

const listMs = 50;

/** From now on whoever waits for a server that does not answer is never done. */
function waitForEver({ state }: RunningTree): void {
  for (const server of state.bySegment.values()) Object.assign(server, { listMs: 1_000_000 });
}

test("[B-LIST-1] after the first, no list of any kind, caller or profile waits for a hung server", async () => {
  const good = inProcessServer({ tools: [tool("g")] });
  const bad = Array.from({ length: 10 }, () => hanging());
  const { ask, clock, tree } = testTree([
    serverOptions("good", good.open),
    ...bad.map((server, n) => serverOptions(`bad${n}`, server.open, { listMs })),
  ]);
  expect(await namesOf(ask("tools/list"))).toEqual(["good.g"]);
  waitForEver(tree);
  clock.advance(10_000);
  const profile = { name: "few", tools: ["good.*"], dialect: undefined, search: false };
  const callers = [
    {},
    { capabilities: { elicitation: {} } },
    { era: "legacy", key: "x" },
    { profile },
  ] as const;
  for (const caller of callers) expect(await namesOf(ask("tools/list", {}, { caller }))).toEqual(["good.g"]);
  // They are asked all the same.
  for (const { isAsked } of bad) expect(isAsked()).toBeGreaterThan(0);
  await expect(ask("tools/call", { name: "good.g" })).resolves.toBeDefined();
});

test("a server that does not open keeps none of its other lists waiting", async () => {
  const { promise: never } = Promise.withResolvers<void>();
  const server = inProcessServer({ opening: () => never });
  const { ask, tree } = testTree([serverOptions("s", server.open, { listMs })]);
  await ask("tools/list");
  waitForEver(tree);
  for (const method of methods) await ask(method);
  await ask("tools/list", {}, { caller: { capabilities: { roots: {} } } });
});

test("one kind that hangs does not keep the others from being waited for", async () => {
  const server = hanging({ prompts: [{ name: "p" }] }, ["resources/list", "resources/templates/list"]);
  const { ask, tree } = testTree([serverOptions("s", server.open, { listMs })]);
  expect(await namesOf(ask("resources/list"), "resources")).toEqual([]);
  expect([...(tree.state.bySegment.get("s")?.mute.keys() ?? [])]).toEqual(["resources"]);
  expect(await namesOf(ask("tools/list"))).toEqual(["s.t"]);
  expect(await namesOf(ask("prompts/list"), "prompts")).toEqual(["s.p"]);
});

test("it is asked in the background, and its coming alive is a list_changed", async () => {
  const server = hanging();
  const { ask, tree, clock } = testTree([serverOptions("s", server.open, { listMs: 300 })]);
  const news: string[] = [];
  await tree.subscribe(callerOf(), { toolsListChanged: true }, (method) => news.push(method));
  expect(await namesOf(ask("tools/list"))).toEqual([]);
  expect(server.isAsked()).toBe(0);
  clock.advance(5_000);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(server.isAsked()).toBe(1);
  server.wake();
  await vi.waitFor(async () => {
    await vi.advanceTimersByTimeAsync(100);
    expect(news).toContain("notifications/tools/list_changed");
  });
  expect(await namesOf(ask("tools/list"))).toEqual(["s.t"]);
  const other = { caller: { capabilities: { roots: {} } } };
  expect(await namesOf(ask("tools/list", {}, other))).toEqual(["s.t"]);
  // Nobody asks in the background any more.
  const before = server.asked.length;
  clock.advance(1_000_000);
  await vi.advanceTimersByTimeAsync(1_000_000);
  expect(server.asked).toHaveLength(before);
});

test("an old list is shown where a new one takes too long", async () => {
  let isHung = false;
  const server = inProcessServer({
    tools: [tool("t")],
    handle: ({ method }) => (isHung && method === "tools/list" ? new Promise(() => {}) : undefined) as never,
  });
  const { ask, clock } = testTree([serverOptions("s", server.open, { listMs: 600_000 })]);
  expect(await namesOf(ask("tools/list"))).toEqual(["s.t"]);
  isHung = true;
  clock.advance(100_000);
  const listing = namesOf(ask("tools/list"));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await listing).toEqual(["s.t"]);
});

/** Says `tools/list_changed` whenever it lists: before its answer, or once that is out. */
function alarming(when: "before" | "after") {
  let tools = [tool("a")];
  const server = inProcessServer({
    handle({ method }: LinkRequest) {
      if (method !== "tools/list") return undefined as never;
      const tell = () => {
        for (const taker of server.takers) taker.notification("notifications/tools/list_changed", {});
      };
      if (when === "before") tell();
      else setImmediate(tell);
      return { tools };
    },
  });
  return {
    ...server,
    lists: () => server.asked.length,
    become(...names: string[]) {
      tools = names.map(tool);
    },
  };
}

const settled = async () => {
  for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve));
};

test("a server that says it during every list is listed, kept and left in peace", async () => {
  const server = alarming("before");
  const { ask, tree } = testTree([serverOptions("s", server.open)]);
  const news: string[] = [];
  await tree.subscribe(callerOf(), { toolsListChanged: true }, (method) => news.push(method));
  for (let n = 0; n < 3; n += 1) expect(await namesOf(ask("tools/list"))).toEqual(["s.a"]);
  expect(server.lists()).toBe(2);
  const status = await ask("tools/call", { name: "mcpax.status" });
  const { servers } = status.structuredContent as { servers: JsonObject[] };
  expect(servers.find(({ name }) => name === "s")).toMatchObject({ tools: 1, state: "up" });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(news).toEqual([]);
});

test("one that says it after every list ends no client in a loop, and a real change is told all the same", async () => {
  const server = alarming("after");
  const { ask, tree, clock } = testTree([serverOptions("s", server.open)]);
  const news: string[] = [];
  await tree.subscribe(callerOf(), { toolsListChanged: true }, (method) => news.push(method));
  // A client that lists whenever it is told to.
  for (let n = 0; n < 20; n += 1) {
    await ask("tools/list");
    await settled();
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(news.length).toBeLessThan(6);
  expect(server.lists()).toBeLessThan(8);
  news.length = 0;
  server.become("a", "b");
  clock.advance(5_001);
  expect(await namesOf(ask("tools/list"))).toEqual(["s.a", "s.b"]);
  await vi.advanceTimersByTimeAsync(100);
  expect(news).toContain("notifications/tools/list_changed");
});

test("a change while the list is read is in it", async () => {
  let tools = [tool("a")];
  const server = inProcessServer({
    handle({ method }: LinkRequest) {
      if (method !== "tools/list") return undefined as never;
      const now = tools;
      if (tools.length === 1) {
        tools = [tool("a"), tool("b")];
        server.takers[0]?.notification("notifications/tools/list_changed", {});
      }
      return { tools: now };
    },
  });
  const { ask } = testTree([serverOptions("s", server.open)]);
  expect(await namesOf(ask("tools/list"))).toEqual(["s.a", "s.b"]);
});

test("after list_changed a call goes by the new list, though nobody has listed", async () => {
  let tools: JsonObject[] = [tool("t")];
  const server = inProcessServer({
    handle: ({ method }) => (method === "tools/list" ? { tools } : undefined) as never,
  });
  const { ask } = testTree([serverOptions("s", server.open)]);
  const change = (...next: JsonObject[]) => {
    tools = next;
    server.takers[0]?.notification("notifications/tools/list_changed", {});
  };
  for (const [caller, name] of [
    [{}, "s.t"],
    [{ dialect: "safe" }, "s__t"],
  ] as const) {
    change(tool("t"));
    await ask("tools/list", {}, { caller });
    await expect(ask("tools/call", { name }, { caller })).resolves.toBeDefined();
    change();
    await expect(ask("tools/call", { name }, { caller })).rejects.toThrow(/no tool|unknown/i);
  }
});
