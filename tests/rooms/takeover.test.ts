// One live connection per participant and topic.
import { afterAll, expect, test } from "vitest";
import { enter, enterWith, refusedOnConnect } from "../support/enter.ts";
import { startTestServer } from "../support/test-server.ts";

const server = await startTestServer();
const strict = await startTestServer({ gateway: { takeover: "refuse" } });
afterAll(() => Promise.all([server.stop(), strict.stop()]));

test("[X0-6-1] [X1-7.1-2] a second connection replaces the first and inherits nothing", async () => {
  const topic = "room:takeover";
  const watcher = await enter(server, "watcher", { topic });
  const first = await enter(server, "alice", { topic, level: "full" });
  await first.ack(first.send({ kind: "system", payload: { type: "presence_status", status: "busy" } }));
  const second = await enter(server, "alice", { topic, level: "restricted" });
  expect(await first.closing()).toEqual({ code: 4409, reason: "replaced" });
  expect(second.welcome.payload.participant).toEqual({ id: "alice", privilege: "restricted" });
  expect(second.welcome.payload.participants.map(({ id }: { id: string }) => id)).toEqual(["watcher"]);
  const news = (await watcher.taken()).filter(({ kind }) => kind === "presence");
  expect(
    news.map(({ payload }) => [
      payload.event,
      payload.participant.privilege,
      payload.participant.status?.status,
    ]),
  ).toEqual([
    ["join", "full", undefined],
    ["heartbeat", "full", "busy"],
    ["leave", "full", "busy"],
    ["join", "restricted", undefined],
  ]);
  // The end of the first takes nothing from the second.
  expect(await second.outcome(second.say("me"))).toBe("ack");
  await watcher.find(({ payload }) => payload.text === "me");
});

test("[X0-6-1] the same participant may be in many rooms, each with a connection of its own", async () => {
  const a = await enter(server, "alice", { topic: "room:a" });
  const b = await enter(server, "alice", { topic: "room:b" });
  expect(a.welcome.payload.connection_id).not.toBe(b.welcome.payload.connection_id);
  expect(await a.outcome(a.say("here"))).toBe("ack");
  expect(await b.outcome(b.say("there"))).toBe("ack");
});

test("[X0-6-1] of many connections at the same moment one is left, and it works", async () => {
  const topic = "room:race";
  const token = await server.token({ sub: "racer", topics: [topic], level: "full" });
  const clients = await Promise.all(Array.from({ length: 8 }, () => enterWith(server, token, { topic })));
  const { body } = await server.call("GET", "/admin/connections", await server.adminToken());
  const [left, ...more] = body.connections.filter(
    ({ participantId }: { participantId: string }) => participantId === "racer",
  );
  expect(more).toEqual([]);
  const winner = clients.find(({ welcome }) => welcome.payload.connection_id === left.connectionId);
  for (const client of clients) {
    if (client !== winner) expect((await client.closing()).code).toBe(4409);
  }
  expect(await winner?.outcome(winner.say("won"))).toBe("ack");
});

test("[X0-6-1] where configured so, the second is refused and the first stays", async () => {
  const topic = "room:strict";
  const token = await strict.token({ sub: "alice", topics: ["**"], level: "full" });
  const first = await enterWith(strict, token, { topic });
  expect((await refusedOnConnect(strict, token, { topic })).message).toBe("409 already_connected");
  expect(await first.outcome(first.say("undisturbed"))).toBe("ack");
  await (await enterWith(strict, token, { topic: "room:other" })).leave();
  await first.leave();
  await (await enterWith(strict, token, { topic })).leave();
});

test("[X0-6-1] where the second is refused, of many at the same moment one comes in and stays", async () => {
  const topic = "room:strict-race";
  const token = await strict.token({ sub: "racer", topics: ["**"], level: "full" });
  const outcomes = await Promise.allSettled(
    Array.from({ length: 8 }, () => enterWith(strict, token, { topic })),
  );
  const inside = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  expect(inside).toHaveLength(1);
  expect(await inside[0]?.outcome(inside[0].say("alone"))).toBe("ack");
});
