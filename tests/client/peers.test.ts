// Peers as MCP servers: listing, calling, progress, cancellation, and whose answers count.
import { describe, expect, onTestFinished, test } from "vitest";
import { enter } from "../support/enter.ts";
import type { TestServer } from "../support/test-server.ts";
import { join, nextEvent, rejection, seen, startHouse, textOf, topic } from "./support/house.ts";
import { kitchenV1, kitchenV2 } from "./support/sdk-servers.ts";

for (const [version, kitchenOf] of [
  ["v1", kitchenV1],
  ["v2", kitchenV2],
] as const) {
  test(`[X0-7-1] [X0-12-1] [X0-12-2] a served SDK ${version} server is listed and called over the room`, async () => {
    const house = await startHouse();
    const oven = await join(house, "oven", { kind: "robot" });
    const { server, done } = kitchenOf();
    await oven.serve(server);
    const alice = await join(house, "alice");
    expect(alice.peers).toMatchObject([{ id: "oven", kind: "robot", privilege: "full" }]);
    const tools = await alice.peer("oven").listTools();
    expect(tools.map(({ name }) => name)).toEqual(["echo", "count", "wait"]);
    const result = await alice.peer("oven").callTool("echo", { text: "hi" });
    expect(textOf(result)).toBe("hi");
    expect(done).toEqual(["echo hi"]);
    const { protocolVersion, serverInfo } = await alice.peer("oven").introduction();
    expect({ protocolVersion, serverInfo }).toMatchObject({
      protocolVersion: "2025-11-25",
      serverInfo: { name: "kitchen" },
    });
  });

  test(`[X0-13.3-1] progress of a ${version} server comes to who asked for it, and to nobody else`, async () => {
    const house = await startHouse();
    const oven = await join(house, "oven");
    await oven.serve(kitchenOf().server);
    const heard: Record<string, number[]> = { alice: [], bob: [] };
    const calls = ["alice", "bob"].map(async (id, i) => {
      const room = await join(house, id);
      const onProgress = ({ total = 0 }) => void heard[id]?.push(total);
      return room.peer("oven").callTool("count", { to: 5 + i }, { onProgress });
    });
    expect((await Promise.all(calls)).map(textOf)).toEqual(["5", "6"]);
    expect(new Set(heard.alice)).toEqual(new Set([5]));
    expect(new Set(heard.bob)).toEqual(new Set([6]));
  });

  test(`[X0-13.4-1] an aborted call is cancelled at a ${version} server`, async () => {
    const house = await startHouse();
    const oven = await join(house, "oven");
    const { server, done, waiting } = kitchenOf();
    await oven.serve(server);
    const alice = await join(house, "alice");
    const abort = new AbortController();
    const call = rejection(alice.peer("oven").callTool("wait", {}, { signal: abort.signal }));
    await waiting;
    const cancelled = nextEvent(oven, "notification", ({ method }) => method === "notifications/cancelled");
    abort.abort(new Error("no longer hungry"));
    expect((await call).message).toBe("no longer hungry");
    await cancelled;
    await expect.poll(() => done).toEqual(["wait cancelled"]);
  });
}

test("[X0-4.1-6] concurrent callers share one handshake, and a rejoined peer is shaken hands with again", async () => {
  const house = await startHouse();
  let oven = await join(house, "oven");
  await oven.serve(kitchenV1().server);
  const alice = await join(house, "alice");
  const methods: unknown[] = [];
  alice.addEventListener("envelope", ({ detail }) => {
    if (detail.from === "alice") methods.push(detail.payload.method);
  });
  const echo = (text: string) => alice.peer("oven").callTool("echo", { text });
  await Promise.all(["a", "b", "c"].map(echo));
  expect(methods.filter((method) => method === "initialize")).toHaveLength(1);
  expect(methods.slice(0, 2)).toEqual(["initialize", "notifications/initialized"]);
  const back = nextEvent(alice, "presence", ({ event }) => event === "join");
  await oven.close();
  oven = await join(house, "oven");
  await oven.serve(kitchenV2().server);
  await back;
  expect(textOf(await echo("d"))).toBe("d");
  expect(methods.filter((method) => method === "initialize")).toHaveLength(2);
});

test("[X0-4.1-6] [X0-4.1.1-1] a requester that never initialises is told to, by an answer to it alone", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  await oven.serve(kitchenV1().server);
  const raw = await join(house, "raw");
  const answer = nextEvent(raw, "envelope", ({ from, to }) => from === "oven" && to !== undefined);
  const payload = { jsonrpc: "2.0", id: "first", method: "tools/list" };
  const { id } = await raw.publish({ kind: "mcp", to: ["oven"], payload });
  expect(await answer).toMatchObject({
    to: ["raw"],
    correlation_id: id,
    payload: { id: "first", error: { data: { reason: "not_initialized" } } },
  });
});

test("[X0-7-2] requests to others are ignored, requests to nobody who serves are answered", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  const { server, done } = kitchenV1();
  await oven.serve(server);
  const alice = await join(house, "alice");
  await join(house, "bob");
  await seen(alice, "bob");
  // The oven knows her already: nothing but the address keeps it from answering.
  await alice.peer("oven").callTool("echo", { text: "for the oven" });
  const said: string[] = [];
  alice.addEventListener("envelope", ({ detail }) => void said.push(detail.from));
  const error = await rejection(alice.peer("bob").callTool("echo", { text: "for bob" }));
  expect(error).toMatchObject({ code: -32601 });
  // Whatever the oven had to say to that stands before what it is asked next.
  await alice.peer("oven").callTool("echo", { text: "again" });
  expect(said.filter((from) => from === "oven")).toHaveLength(1);
  expect(done).toEqual(["echo for the oven", "echo again"]);
  expect(await rejection(alice.peer("nobody").listTools())).toMatchObject({ reason: "not_here" });
});

test("[X0-9-6] tools only, unless resources are named with the room that will see them", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  const first = await oven.serve(kitchenV1().server);
  const alice = await join(house, "alice");
  const peer = alice.peer("oven");
  expect(Object.keys((await peer.introduction()).capabilities as object)).toEqual(["tools"]);
  expect(await rejection(peer.listResources())).toMatchObject({ code: -32601 });
  expect(await rejection(peer.readResource("note://today"))).toMatchObject({ code: -32601 });
  expect(await rejection(peer.listPrompts())).toMatchObject({ code: -32601 });
  await first.close();
  const wrong = await rejection(oven.serve(kitchenV1().server, { resources: "room:elsewhere" }));
  expect(wrong).toMatchObject({ reason: "bad_option" });
  await oven.serve(kitchenV1().server, { resources: "room:kitchen", prompts: true });
  expect(await peer.readResource("note://today")).toMatchObject({ contents: [{ text: "buy salt" }] });
  expect(await peer.listResources()).toMatchObject([{ uri: "note://today" }]);
  expect(await peer.listPrompts()).toMatchObject([{ name: "greet" }]);
  expect(await peer.getPrompt("greet")).toMatchObject({ messages: [{ content: { text: "hello" } }] });
});

test("[X0-6-2] serving and changed tools are announced to all", async () => {
  const house = await startHouse();
  const alice = await join(house, "alice");
  const oven = await join(house, "oven");
  const listChanged = () =>
    nextEvent(alice, "notification", ({ method }) => method === "notifications/tools/list_changed");
  let news = listChanged();
  const { server, addTool } = kitchenV1();
  await oven.serve(server);
  expect(await news).toMatchObject({ from: "oven" });
  news = listChanged();
  addTool("fry");
  await news;
  expect((await alice.peer("oven").listTools()).map(({ name }) => name)).toContain("fry");
});

test("a factory makes a server for each peer", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  const made: string[] = [];
  await oven.serve((peer) => {
    made.push(peer);
    return kitchenV2().server;
  });
  const alice = await join(house, "alice");
  const bob = await join(house, "bob");
  expect(textOf(await alice.peer("oven").callTool("echo", { text: "a" }))).toBe("a");
  expect(textOf(await bob.peer("oven").callTool("echo", { text: "b" }))).toBe("b");
  expect(made).toEqual(["alice", "bob"]);
});

test("a call to oneself is dispatched here and published nowhere", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  expect(await rejection(oven.peer("oven").listTools())).toMatchObject({ code: -32601 });
  const { server } = kitchenV1();
  await oven.serve(server);
  const before = oven.position;
  await oven.say("marker");
  const heard: number[] = [];
  const result = await oven
    .peer("oven")
    .callTool("count", { to: 3 }, { onProgress: ({ progress }) => heard.push(progress) });
  expect(textOf(result)).toBe("3");
  expect(heard).toEqual([1, 2, 3]);
  const { envelopes } = await oven.history({ afterSeq: Number(before.split(":")[1]) });
  expect(envelopes.filter(({ payload }) => payload.method === "tools/call")).toEqual([]);
  const slow = await rejection(oven.peer("oven").callTool("wait", {}, { timeoutMs: 20 }));
  expect(slow).toMatchObject({ reason: "timeout" });
});

test("a call to oneself ends with the room, or with what is served", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  for (const end of [(served: AsyncDisposable) => served[Symbol.asyncDispose](), () => oven.close()]) {
    const { server, waiting } = kitchenV1();
    const served = await oven.serve(server);
    const call = rejection(oven.peer("oven").callTool("wait"));
    await waiting;
    await end(served);
    expect(await call).toMatchObject({ reason: "closed" });
  }
});

test("a factory that has failed at a call to oneself is asked again at the next", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  let asked = 0;
  await oven.serve(() => {
    asked += 1;
    if (asked === 1) throw new Error("not yet");
    return kitchenV1().server;
  });
  const echo = () => oven.peer("oven").callTool("echo", { text: "hi" });
  expect((await rejection(echo())).message).toBe("not yet");
  expect(textOf(await echo())).toBe("hi");
  await echo();
  expect(asked).toBe(2);
});

test("[X0-6.1-1] hands are shaken eagerly, lazily or on demand", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  await oven.serve(kitchenV1().server);
  const initialized = (from: string) =>
    nextEvent(oven, "notification", (n) => n.from === from && n.method === "notifications/initialized");
  const eager = initialized("eager");
  const first = await join(house, "eager", { handshake: "eager" });
  await eager;
  // It would greet everybody who comes, and be answered.
  await first.close();
  const lazy = initialized("lazy");
  (await join(house, "lazy", { handshake: "lazy" })).peer("oven");
  await lazy;
  const demand = await join(house, "demand");
  const before = demand.position;
  demand.peer("oven");
  await demand.say("marker");
  const { envelopes } = await demand.history({ afterSeq: Number(before.split(":")[1]) });
  const own = envelopes.filter(({ from }) => from === "demand");
  expect(own.map(({ kind }) => kind)).toEqual(["chat"]);
});

describe("[X0-6.1-1] an eager handshake that fails", () => {
  /** A participant without a library that fails the first so many introductions; `asked` are their times of receipt. */
  async function stubbornOven(house: TestServer, failures: number) {
    const oven = await enter(house, "oven", { topic, query: { seq: "1" } });
    onTestFinished(() => oven.ws.terminate());
    const asked: number[] = [];
    const attempt = async () => {
      const { id, from, at, payload } = await oven.find(({ payload }) => payload.method === "initialize");
      asked.push(Date.parse(at));
      const isFailure = asked.length <= failures;
      const outcome = isFailure
        ? { error: { code: -32603, message: "still heating up" } }
        : {
            result: {
              protocolVersion: "2025-11-25",
              capabilities: {},
              serverInfo: { name: "o", version: "1" },
            },
          };
      oven.send({
        kind: "mcp",
        to: [from],
        correlation_id: id,
        payload: { jsonrpc: "2.0", id: payload.id, ...outcome },
      });
    };
    return { oven, asked, attempt };
  }

  test("is tried again, each time after a longer wait, and then done", async () => {
    const house = await startHouse();
    const { oven, asked, attempt } = await stubbornOven(house, 2);
    await join(house, "eager", { handshake: "eager" });
    for (let n = 0; n < 3; n += 1) await attempt();
    await oven.find(({ payload }) => payload.method === "notifications/initialized");
    const [first = 0, second = 0, third = 0] = asked;
    // Half of 500 and of 1 000 ms at least; the rest is chance. A millisecond is lost to rounding.
    expect(second - first).toBeGreaterThanOrEqual(249);
    expect(third - second).toBeGreaterThanOrEqual(499);
  });

  test("is given up after three attempts, and done by the next call", async () => {
    const house = await startHouse();
    const { oven, asked, attempt } = await stubbornOven(house, 3);
    const eager = await join(house, "eager", { handshake: "eager" });
    for (let n = 0; n < 3; n += 1) await attempt();
    // What the oven says next comes after its third failure; a caller before that would share the third attempt.
    const over = nextEvent(eager, "chat", ({ from }) => from === "oven");
    oven.say("leave me alone");
    await over;
    await eager.say("very well");
    const introduction = eager.peer("oven").introduction();
    await attempt();
    expect(await introduction).toMatchObject({ serverInfo: { name: "o" } });
    expect(asked).toHaveLength(4);
  });
});

test("[X0-7-2] a request to a participant that is not there is acknowledged, and answered by nobody", async () => {
  const house = await startHouse();
  const alice = await enter(house, "alice", { topic });
  onTestFinished(() => alice.ws.terminate());
  const payload = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const sent = alice.send({ kind: "mcp", to: ["oven"], payload });
  expect((await alice.ack(sent)).payload.id).toBe(sent);
  // It is in the log, but an oven that comes now without resuming does not get it.
  const oven = await join(house, "oven");
  await oven.say("here I am");
  await alice.ack(alice.say("marker"));
  expect((await alice.taken()).filter(({ correlation_id }) => correlation_id === sent)).toEqual([]);
});

test("[X0-4.1-10] request ids are numbers", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  await oven.serve(kitchenV1().server);
  const alice = await join(house, "alice");
  const ids: unknown[] = [];
  oven.addEventListener("envelope", ({ detail }) => {
    if (detail.from === "alice" && "id" in detail.payload) ids.push(detail.payload.id);
  });
  await alice.peer("oven").listTools();
  expect(ids).toHaveLength(2);
  expect(ids.every((id) => typeof id === "number")).toBe(true);
});
