// A second connection of one participant, made in the gateway's process, by the same client library.
import { joinLocally, ownPrincipal } from "@mcpx/cli";
import type { Room } from "@mcpx/client";
import { expect, onTestFinished, test } from "vitest";
import type { TestServer } from "../support/test-server.ts";
import { join, nextEvent, rejection, startHouse, textOf, topic } from "./support/house.ts";
import { kitchenV1, kitchenV2 } from "./support/sdk-servers.ts";

async function beside(house: TestServer, id: string, level: "full" | "restricted" = "full"): Promise<Room> {
  const token = await house.token({ sub: id, topics: ["**"], level });
  const room = await joinLocally(house.rooms, await house.identity.tokens.verify(token), topic);
  onTestFinished(() => room.close());
  return room;
}

for (const [version, kitchenOf] of [
  ["v1", kitchenV1],
  ["v2", kitchenV2],
] as const) {
  test(`[B-ROOM-1] it calls a ${version} server while the own socket does, each with its own progress and answers`, async () => {
    const house = await startHouse();
    const oven = await join(house, "oven");
    await oven.serve(kitchenOf().server);
    const own = await join(house, "alice");
    const second = await beside(house, "alice");
    const heard: Record<string, number[]> = { own: [], second: [] };
    const count = (room: Room, name: string, to: number) =>
      room
        .peer("oven")
        .callTool("count", { to }, { onProgress: ({ total = 0 }) => void heard[name]?.push(total) });
    const results = await Promise.all([count(own, "own", 5), count(second, "second", 6)]);
    expect(results.map(textOf)).toEqual(["5", "6"]);
    expect(new Set(heard.own)).toEqual(new Set([5]));
    expect(new Set(heard.second)).toEqual(new Set([6]));
  });

  test(`[B-ROOM-1] what it cancels at a ${version} server is its own call and not the other's`, async () => {
    const house = await startHouse();
    const oven = await join(house, "oven");
    const { server, done, waiting, release } = kitchenOf();
    await oven.serve(server);
    const own = await join(house, "alice");
    const second = await beside(house, "alice");
    await second.peer("oven").introduction();
    const kept = own.peer("oven").callTool("wait", {});
    await waiting;
    const abort = new AbortController();
    const calls: unknown[] = [];
    oven.addEventListener("envelope", ({ detail }) => {
      if (detail.payload.method === "tools/call") calls.push(detail.payload.id);
    });
    const dropped = rejection(second.peer("oven").callTool("wait", {}, { signal: abort.signal }));
    await expect.poll(() => calls.length).toBe(1);
    abort.abort(new Error("enough"));
    expect((await dropped).message).toBe("enough");
    await expect.poll(() => done).toEqual(["wait cancelled"]);
    release();
    expect(textOf(await kept)).toBe("waited");
  });
}

test("[B-ROOM-1] what the own socket serves is answered once: the second connection stays silent", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  const { server } = kitchenV1();
  await oven.serve(server);
  const second = await beside(house, "oven");
  const alice = await join(house, "alice");
  const answers: unknown[] = [];
  alice.addEventListener("envelope", ({ detail }) => {
    if (detail.from === "oven" && !Object.hasOwn(detail.payload, "method")) answers.push(detail.payload);
  });
  expect(textOf(await alice.peer("oven").callTool("echo", { text: "hi" }))).toBe("hi");
  const { result } = alice.propose({
    to: "oven",
    method: "tools/call",
    params: { name: "echo", arguments: { text: "x" } },
  });
  const proposal = await nextEvent(second, "proposal");
  await second.proposals.fulfil(proposal.proposal);
  expect(textOf(await result)).toBe("x");
  // The handshakes with both who called, and both calls.
  expect(answers.length).toBe(3);
});

test("[B-ROOM-1] where no socket of its own is there, one of its connections says that nothing is served", async () => {
  const house = await startHouse();
  const seconds = [await beside(house, "oven"), await beside(house, "oven")];
  const alice = await join(house, "alice");
  const answers: unknown[] = [];
  alice.addEventListener("envelope", ({ detail }) => {
    if (detail.from === "oven") answers.push(detail.payload);
  });
  expect(await rejection(alice.peer("oven").listTools())).toMatchObject({ reason: "not_served" });
  await seconds[0]?.close();
  expect(await rejection(alice.peer("oven").listTools())).toMatchObject({ reason: "not_served" });
  expect(answers.length).toBe(2);
});

test("[B-ROOM-1] a participant of the process's own is called in vain, and says so", async () => {
  const house = await startHouse();
  const lone = await joinLocally(house.rooms, ownPrincipal("tree.lab", topic), topic, { isSecond: false });
  onTestFinished(() => lone.close());
  const alice = await join(house, "alice");
  expect(alice.peers).toMatchObject([{ id: "tree.lab", kind: "agent", privilege: "full" }]);
  expect(await rejection(alice.peer("tree.lab").listTools())).toMatchObject({
    code: -32601,
    reason: "not_served",
  });
  const { body } = await house.call("GET", "/admin/connections", await house.adminToken());
  expect(body.connections.length).toBe(2);
});

test("[B-ROOM-1] history, chat and levels work as over a socket", async () => {
  const house = await startHouse();
  const own = await join(house, "alice");
  const second = await beside(house, "alice", "restricted");
  expect([own.level, second.level]).toEqual(["full", "restricted"]);
  for (let i = 0; i < 5; i += 1) await own.say(`number ${i}`);
  await second.say("and one more");
  const first = await second.history({ limit: 4 });
  expect(first.envelopes.map(({ payload }) => payload.text)).toEqual([
    "and one more",
    "number 4",
    "number 3",
    "number 2",
  ]);
  expect((await first.next?.())?.envelopes.map(({ payload }) => payload.text)).toEqual([
    "number 1",
    "number 0",
  ]);
});

test("[B-ROOM-1] a refused way in is told in the gateway's own word, and not tried again", async () => {
  const house = await startHouse();
  const principal = ownPrincipal("alice", "room:elsewhere");
  expect(await rejection(joinLocally(house.rooms, principal, topic))).toMatchObject({
    reason: "topic_forbidden",
    code: 40304,
  });
});

test("[B-ROOM-1] a kick ends it for good; closing it leaves the own socket alone", async () => {
  const house = await startHouse();
  const own = await join(house, "alice");
  const second = await beside(house, "alice");
  await second.close();
  await own.say("still here");
  const third = await beside(house, "alice");
  const closed = nextEvent(third, "state", ({ state }) => state === "closed");
  await house.call("DELETE", "/admin/participants/alice", await house.adminToken());
  expect((await closed).reason).toBe("kicked");
});
