// A dropped client comes back to exactly what it missed, or is told plainly why it cannot.
import { join } from "node:path";
import { createSqliteTopicLog } from "@mcpx/gateway";
import { afterAll, describe, expect, test } from "vitest";
import { enter, positionOf } from "../support/enter.ts";
import type { Seen, TestClient } from "../support/test-client.ts";
import { startTestServer } from "../support/test-server.ts";

const server = await startTestServer({
  gateway: { topics: { "room:forgetful": { history: false } } },
  limits: { envelopesPerSecondFull: 100_000 },
});
afterAll(() => server.stop());

async function say(client: TestClient, ...texts: string[]): Promise<void> {
  for (const text of texts) await client.ack(client.say(text, { id: text }));
}

/** What came back, in short: `seq id` of envelopes, `ack seq id` of own ones. */
async function story(client: TestClient): Promise<string[]> {
  return (await client.taken()).flatMap(({ kind, seq, id, payload }: Seen) => {
    if (payload.event === "ack") return [`ack ${payload.seq} ${payload.id}`];
    return kind === "presence" || kind === "system" ? [] : [`${seq} ${id}`];
  });
}

const query = { seq: "1" };

test("[B-RESUME-1] a resume gives exactly what was missed, own envelopes as acks, then goes live", async () => {
  const topic = "room:resume";
  const bob = await enter(server, "bob", { topic });
  const alice = await enter(server, "alice", { topic, query });
  await say(bob, "b1");
  await say(alice, "a2");
  await alice.settled();
  // Its last word arrives at the gateway, but the line breaks before the ack is back.
  alice.say("a3", { id: "a3" });
  await bob.find(({ id }) => id === "a3");
  alice.ws.terminate();
  await bob.event("leave");
  await say(bob, "b4", "b5");
  const back = await enter(server, "alice", { topic, query: { ...query, resume: positionOf(alice, 2) } });
  expect(back.welcome.payload).toMatchObject({ resumed: true, history: { seq: 2 } });
  expect(back.welcome.payload).not.toHaveProperty("reason");
  await say(bob, "b6");
  expect(await story(back)).toEqual(["ack 3 a3", "4 b4", "5 b5", "6 b6"]);
});

test("[B-RESUME-1] a resume from the newest position gives nothing again; from zero, everything", async () => {
  const topic = "room:edges";
  const bob = await enter(server, "bob", { topic });
  await say(bob, "b1", "b2", "b3");
  const now = await enter(server, "alice", { topic, query: { ...query, resume: positionOf(bob, 3) } });
  expect(now.welcome.payload.resumed).toBe(true);
  expect(await story(now)).toEqual([]);
  const all = await enter(server, "alice", { topic, query: { ...query, resume: positionOf(bob, 0) } });
  expect(await story(all)).toEqual(["1 b1", "2 b2", "3 b3"]);
});

test("[B-RESUME-1] the epoch and the order outlive a restart", async () => {
  const topic = "room:restart";
  const bob = await enter(server, "bob", { topic });
  await say(bob, "b1", "b2");
  await server.restart();
  const again = await enter(server, "bob", { topic });
  expect(again.welcome.payload.history).toMatchObject({ epoch: bob.welcome.payload.history.epoch, seq: 2 });
  await say(again, "b3");
  const alice = await enter(server, "alice", { topic, query: { ...query, resume: positionOf(bob, 1) } });
  expect(await story(alice)).toEqual(["2 b2", "3 b3"]);
});

test("[B-RESUME-1] a long absence is read back in pages, in order, while others go on publishing", async () => {
  const topic = "room:long";
  const bob = await enter(server, "bob", { topic });
  for (let i = 1; i < 1_000; i += 1) bob.say(`${i}`);
  await bob.ack(bob.say("1000"));
  const alice = await enter(server, "alice", { topic, query: { ...query, resume: positionOf(bob, 0) } });
  for (let i = 1_001; i <= 1_500; i += 1) bob.say(`${i}`);
  const seqs: number[] = [];
  while (seqs.length < 1_500) {
    const { seq, payload } = await alice.find((message) => message.seq !== undefined);
    expect(payload.text).toBe(`${seq}`);
    seqs.push(seq);
  }
  expect(seqs).toEqual(Array.from({ length: 1_500 }, (_, i) => i + 1));
});

test("[B-RESUME-1] who comes back to a long past does not keep everybody else waiting", async () => {
  const topic = "room:patience";
  const bob = await enter(server, "bob", { topic });
  const count = 12_000;
  for (let i = 1; i <= count; i += 1) {
    const id = bob.say(".");
    if (i % 500 === 0) await bob.ack(id);
  }
  const admin = await server.adminToken();
  const places: number[] = [];
  let isOver = false;
  const looking = (async () => {
    while (!isOver) {
      const { body } = await server.call("GET", "/admin/connections", admin);
      const isHers = (one: Seen) => one.topic === topic && one.participantId === "alice";
      places.push(body.connections.find(isHers)?.seq ?? 0);
    }
  })();
  const alice = await enter(server, "alice", { topic, query: { ...query, resume: positionOf(bob, 0) } });
  await alice.find(({ seq }) => seq === count);
  isOver = true;
  await looking;
  // Somebody else was answered while she was still being told.
  expect(places.filter((place) => place > 0 && place < count)).not.toEqual([]);
});

describe("[B-RESUME-1] a resume is refused, never partial,", () => {
  async function refusedAs(topic: string, resume: string): Promise<Seen> {
    const client = await enter(server, "alice", { topic, query: { ...query, resume } });
    expect(client.welcome.payload.resumed).toBe(false);
    // It is in the room all the same, from now on.
    const { payload } = await client.ack(client.say("here"));
    expect(payload.seq).toBe(client.welcome.payload.history.seq + 1);
    expect(await story(client)).toEqual([]);
    await client.leave();
    return client.welcome.payload.reason;
  }

  test("where the store is another one", async () => {
    expect(await refusedAs("room:epoch", "0123456789abcdef:0")).toBe("epoch_unknown");
  });

  test("where the position was never reached", async () => {
    const bob = await enter(server, "bob", { topic: "room:ahead" });
    await say(bob, "b1");
    expect(await refusedAs("room:ahead", positionOf(bob, 2))).toBe("seq_ahead");
  });

  test("where history no longer reaches back", async () => {
    const topic = "room:trimmed";
    const bob = await enter(server, "bob", { topic });
    await say(bob, "b1", "b2", "b3", "b4");
    const log = await createSqliteTopicLog({ path: join(server.dataDir, "topics.db") });
    await log.trim(topic, { count: 2 }, Date.now());
    await log.close();
    expect(await refusedAs(topic, positionOf(bob, 1))).toBe("history_trimmed");
    // The oldest position from which nothing is missing is still good.
    const edge = await enter(server, "carol", { topic, query: { ...query, resume: positionOf(bob, 2) } });
    expect(edge.welcome.payload.resumed).toBe(true);
    expect((await story(edge)).slice(0, 2)).toEqual(["3 b3", "4 b4"]);
  });

  test("where the topic keeps no history", async () => {
    const topic = "room:forgetful";
    const bob = await enter(server, "bob", { topic });
    await say(bob, "b1");
    expect(await refusedAs(topic, positionOf(bob, 0))).toBe("history_disabled");
  });
});

test("[X0-5.2-2] a welcome brings as many of the last envelopes as were asked for, oldest first, with their seq", async () => {
  const topic = "room:recent";
  const bob = await enter(server, "bob", { topic });
  await say(bob, "b1", "b2", "b3");
  const recent = async (history: string) => {
    const client = await enter(server, "alice", { topic, query: { history } });
    await client.leave();
    return client.welcome.payload.history.envelopes?.map(({ seq, id }: Seen) => `${seq} ${id}`);
  };
  expect(await recent("2")).toEqual(["2 b2", "3 b3"]);
  expect(await recent("50")).toEqual(["1 b1", "2 b2", "3 b3"]);
  expect(await recent("0")).toBeUndefined();
});
