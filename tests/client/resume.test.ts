// Connections break; rooms do not. Nothing is lost, nothing comes twice, and what cannot be known is said.
import { joinRoom } from "@mcpx/client";
import { expect, onTestFinished, test } from "vitest";
import { startFaultProxy } from "../faults/support/fault-proxy.ts";
import { cuttable } from "./support/cuttable.ts";
import { join, nextEvent, rejection, seen, startHouse, textOf, topic, wideLimits } from "./support/house.ts";
import { kitchenV1 } from "./support/sdk-servers.ts";

const isSoak = process.env.MCPX_SOAK === "1";

test("[X0-12-4] cut again and again, a room neither loses nor doubles what is said and heard", async () => {
  const house = await startHouse();
  const wires = [cuttable(), cuttable()];
  const [alice, bob] = await Promise.all(
    wires.map(({ WebSocket }, i) => join(house, i === 0 ? "alice" : "bob", { WebSocket })),
  );
  if (alice === undefined || bob === undefined) throw new Error("nobody is here");
  const heard: string[] = [];
  const numbers: (number | undefined)[] = [];
  bob.addEventListener("chat", ({ detail }) => heard.push(detail.text));
  bob.addEventListener("envelope", ({ detail }) => detail.seq !== undefined && numbers.push(detail.seq));
  const texts = Array.from({ length: 300 }, (_, i) => `n${i}`);
  const receipts: Promise<unknown>[] = [];
  for (const [i, text] of texts.entries()) {
    receipts.push(alice.say(text));
    if (i % 20 === 0) await receipts.at(-1);
    if (i % 30 === 29) wires[(i / 30) & 1]?.cut();
  }
  await Promise.all(receipts);
  await expect.poll(() => heard.length).toBeGreaterThanOrEqual(300);
  expect(heard).toEqual(texts);
  expect(numbers).toEqual(numbers.map((_, i) => i + 1));
});

test("[X0-12-4] whatever byte the gateway is cut off at, the story is the same", {
  timeout: isSoak ? 600_000 : 60_000,
}, async () => {
  const house = await startHouse();
  const proxy = await startFaultProxy(Number(new URL(house.url).port));
  onTestFinished(() => proxy.close());
  const oven = await join(house, "oven");
  await oven.serve(kitchenV1().server);
  const token = await house.token({ sub: "reader", topics: ["**"], level: "full" });
  let cuts = 0;
  for (let at = 1; at < 4_000; at += isSoak ? 7 : 97) {
    proxy.cutAfter(at);
    const reader = await joinRoom({
      url: `http://127.0.0.1:${proxy.port}`,
      topic,
      token,
      history: 0,
      backoff: { minMs: 1, maxMs: 5 },
    });
    reader.addEventListener("state", ({ detail }) => {
      if (detail.state === "reconnecting") cuts += 1;
    });
    const heard: string[] = [];
    reader.addEventListener("chat", ({ detail }) => heard.push(detail.text));
    await seen(reader, "oven");
    const said = ["once", "upon", "a time"];
    for (const text of said) await oven.say(text);
    const { seq } = await reader.say("and so on");
    expect(seq, `cut at ${at}`).toBeGreaterThan(0);
    expect(textOf(await reader.peer("oven").callTool("echo", { text: `at ${at}` }))).toBe(`at ${at}`);
    await expect.poll(() => heard, { message: `cut at ${at}` }).toEqual(said);
    await reader.close();
  }
  // Control: some cuts fell into the stream.
  expect(cuts).toBeGreaterThan(3);
});

test("a call survives the caller's reconnect: it was asked once, and its answer is found", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  const { server, done, waiting, release } = kitchenV1();
  await oven.serve(server);
  const { WebSocket, cut } = cuttable();
  const alice = await join(house, "alice", { WebSocket, backoff: { minMs: 100, maxMs: 100 } });
  const call = alice.peer("oven").callTool("wait");
  await waiting;
  const lost = nextEvent(alice, "state", ({ state }) => state === "reconnecting");
  cut();
  await lost;
  release();
  expect(textOf(await call)).toBe("waited");
  expect(done).toEqual(["wait ended"]);
});

test("a call survives the server's reconnect, and a restart of the gateway", async () => {
  const house = await startHouse();
  const { WebSocket, cut } = cuttable();
  const oven = await join(house, "oven", { WebSocket });
  const { server, waiting, release } = kitchenV1();
  await oven.serve(server);
  const alice = await join(house, "alice");
  const call = alice.peer("oven").callTool("wait");
  await waiting;
  const back = nextEvent(alice, "presence", ({ event }) => event === "join");
  cut();
  await back;
  const [again, there] = [alice, oven].map((room) =>
    nextEvent(room, "state", ({ state }) => state === "live"),
  );
  await house.restart();
  await Promise.all([again, there]);
  release();
  expect(textOf(await call)).toBe("waited");
  expect(textOf(await alice.peer("oven").callTool("echo", { text: "after" }))).toBe("after");
});

test("a gateway that drains says when to come back, and is obeyed", async () => {
  const house = await startHouse();
  const alice = await join(house, "alice");
  const live = nextEvent(alice, "state", ({ state }) => state === "live");
  const notice = nextEvent(alice, "envelope", ({ payload }) => payload.event === "draining");
  const restarted = house.restart();
  const afterMs = Number((await notice).payload.reconnect_after_ms);
  const toldAtMs = performance.now();
  await Promise.all([live, restarted]);
  expect(performance.now() - toldAtMs).toBeGreaterThanOrEqual(afterMs - 5);
});

test("where history does not reach back, a gap is told, and calls it may have swallowed fail", async () => {
  const house = await startHouse({
    limits: wideLimits,
    gateway: { topics: { [topic]: { history: false } } },
  });
  const { WebSocket, cut } = cuttable();
  const oven = await join(house, "oven");
  const { server, waiting } = kitchenV1();
  await oven.serve(server);
  const alice = await join(house, "alice", { WebSocket });
  const call = rejection(alice.peer("oven").callTool("wait"));
  await waiting;
  const gap = nextEvent(alice, "gap");
  cut();
  expect(await gap).toMatchObject({ reason: "history_disabled" });
  expect(await call).toMatchObject({ reason: "gap" });
  const heard = nextEvent(alice, "chat");
  await oven.say("and on it goes");
  expect((await heard).text).toBe("and on it goes");
});

test("a gateway that falls silent is noticed: by an acknowledgement that does not come, and without one", async () => {
  const house = await startHouse();
  for (const publishes of [true, false]) {
    const proxy = await startFaultProxy(Number(new URL(house.url).port));
    const id = publishes ? "speaker" : "listener";
    const token = await house.token({ sub: id, topics: ["**"], level: "full" });
    const url = `http://127.0.0.1:${proxy.port}`;
    const room = await joinRoom({ url, topic, token, ackTimeoutMs: 200, silenceMs: 100 });
    const lost = nextEvent(room, "state", ({ state }) => state === "reconnecting");
    proxy.fallSilent();
    const said = publishes ? rejection(room.say("is anybody there?")) : undefined;
    expect((await lost).reason).toBe("network");
    await room.close();
    expect(await said).toEqual(publishes ? expect.objectContaining({ reason: "closed" }) : undefined);
    await proxy.close();
  }
});

test("nobody is asked twice for what was published before the answer was lost", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  const { server, done } = kitchenV1();
  await oven.serve(server);
  const { WebSocket, cut } = cuttable();
  const alice = await join(house, "alice", { WebSocket });
  await alice.peer("oven").introduction();
  const texts = Array.from({ length: 40 }, (_, i) => `c${i}`);
  const calls = texts.map((text) => alice.peer("oven").callTool("echo", { text }));
  cut();
  const results = await Promise.all(calls);
  expect(results.map(textOf)).toEqual(texts);
  expect(done.toSorted()).toEqual(texts.map((text) => `echo ${text}`).toSorted());
});
