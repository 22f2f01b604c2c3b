// One dense order per topic, the same for everybody, and each sender's own order kept.
import { afterAll, expect, test } from "vitest";
import { enter } from "../support/enter.ts";
import type { Seen, TestClient } from "../support/test-client.ts";
import { startTestIssuer } from "../support/test-issuer.ts";
import { startTestServer } from "../support/test-server.ts";

const issuer = await startTestIssuer();
const server = await startTestServer({
  issuers: [{ issuer: issuer.issuer, jwksUri: issuer.jwksUri }],
  limits: { envelopesPerSecondFull: 10_000 },
});
afterAll(async () => {
  await server.stop();
  await issuer.down();
});

const isEnvelope = (message: Seen) => message.from !== "system:gateway";
const isAck = (message: Seen) => message.payload.event === "ack";

/** Everything of a topic in the order one client was told it: others' envelopes by seq, its own by their acks. */
async function told(client: TestClient, count: number): Promise<{ seq: number; id: string }[]> {
  const order: { seq: number; id: string }[] = [];
  while (order.length < count) {
    const message = await client.next();
    if (isAck(message)) order.push({ seq: message.payload.seq, id: message.payload.id });
    else if (isEnvelope(message)) order.push({ seq: message.seq, id: message.id });
  }
  return order;
}

test("[X0-4-8] [X0-3-2] three senders pipeline 200 envelopes each: one dense order for all, each sender's own kept", async () => {
  const topic = "room:order";
  const query = { seq: "1" };
  const readers = await Promise.all(
    ["r1", "r2", "r3", "r4"].map((id) => enter(server, id, { topic, query, level: "restricted" })),
  );
  const senders = await Promise.all(["s1", "s2", "s3"].map((id) => enter(server, id, { topic, query })));
  const sent = senders.map((sender) => Array.from({ length: 200 }, (_, i) => `${sender.id}-${i}`));
  for (let i = 0; i < 200; i += 1) {
    for (const sender of senders) sender.say(`${i}`, { id: `${sender.id}-${i}` });
  }
  const orders = await Promise.all([...senders, ...readers].map((client) => told(client, 600)));
  const [first] = orders;
  expect(first?.map(({ seq }) => seq)).toEqual(Array.from({ length: 600 }, (_, i) => i + 1));
  for (const order of orders) expect(order).toEqual(first);
  for (const ids of sent) expect(first?.map(({ id }) => id).filter((id) => ids.includes(id))).toEqual(ids);
  const kept = await history(topic);
  expect(kept.map(({ seq, id }) => ({ seq, id }))).toEqual(first);
  expect(kept.map(({ at }) => at)).toEqual(kept.map(({ at }) => at).toSorted());
});

async function history(topic: string): Promise<Seen[]> {
  const token = await server.token({ sub: "reader", topics: [topic] });
  const { body } = await server.call("GET", `/v0/topics/${topic}/history?limit=1000`, token);
  return body.envelopes.toReversed();
}

test("[X0-4-4] the order is the gateway's, whatever the senders' clocks say", async () => {
  const topic = "room:clocks";
  const alice = await enter(server, "alice", { topic, query: { seq: "1" } });
  const bob = await enter(server, "bob", { topic });
  for (const ts of ["2031-01-01T00:00:00Z", "1999-12-31T23:59:59.5+01:00"])
    await bob.ack(bob.say(ts, { ts }));
  const [, first, second] = await alice.taken();
  expect([first.seq, first.ts, first.payload.text]).toEqual([
    1,
    "2031-01-01T00:00:00Z",
    "2031-01-01T00:00:00Z",
  ]);
  expect([second.seq, second.ts]).toEqual([2, "1999-12-31T23:59:59.5+01:00"]);
  expect(Date.parse(second.at)).toBeGreaterThanOrEqual(Date.parse(first.at));
});

test("[X0-4-8] topics have orders of their own, and what is refused takes no place in them", async () => {
  const a = await enter(server, "alice", { topic: "room:a" });
  const b = await enter(server, "alice", { topic: "room:b" });
  expect((await a.ack(a.say("one"))).payload.seq).toBe(1);
  expect(await a.outcome(a.send({ kind: "chat", payload: {} }))).toBe("bad_chat");
  expect((await a.ack(a.say("two"))).payload.seq).toBe(2);
  expect((await b.ack(b.say("one"))).payload.seq).toBe(1);
});

test("[X0-4-8] seq and at are added only where they were asked for, and presence has none", async () => {
  const topic = "room:plain";
  const plain = await enter(server, "plain", { topic });
  const numbered = await enter(server, "numbered", { topic, query: { seq: "1" } });
  const speaker = await enter(server, "speaker", { topic });
  const { payload: ack } = await speaker.ack(speaker.say("hi"));
  const [, , without] = await plain.taken();
  const [join, withSeq] = await numbered.taken();
  expect(without).not.toHaveProperty("seq");
  expect(without).not.toHaveProperty("at");
  expect(withSeq).toMatchObject({ seq: ack.seq, at: ack.at });
  expect(join).not.toHaveProperty("seq");
  expect({ ...withSeq, seq: undefined, at: undefined }).toEqual({
    ...without,
    seq: undefined,
    at: undefined,
  });
});

test("a sender that asked for an echo gets its own envelopes too, behind their acks", async () => {
  const client = await enter(server, "narcissus", { topic: "room:echo", query: { echo: "1", seq: "1" } });
  const ids = ["e-1", "e-2", "e-3"].map((id) => client.say("me", { id }));
  const seen: string[] = [];
  while (seen.length < 6) {
    const message = await client.next();
    seen.push(isAck(message) ? `ack ${message.payload.id}` : `${message.seq} ${message.id}`);
  }
  expect(seen).toEqual(ids.flatMap((id, i) => [`ack ${id}`, `${i + 1} ${id}`]));
});

test("what waits behind a slow check is neither lost nor reordered, however much it is", async () => {
  const client = await enter(server, "patient", { topic: "room:behind" });
  const { asked, release } = issuer.hold();
  const token = issuer.token({ aud: server.identity.gatewayId, topics: ["**"] });
  const refresh = client.send({ kind: "system", payload: { type: "refresh", token } });
  await asked;
  // More than the gateway takes in before it stops reading.
  const ids = Array.from({ length: 900 }, (_, i) => client.say(".", { id: `w-${i}` }));
  release();
  expect(await client.outcome(refresh)).toBe("identity_change");
  expect((await told(client, ids.length)).map(({ id }) => id)).toEqual(ids);
});
