// Publishing twice is publishing once.
import { afterAll, expect, test } from "vitest";
import { enter } from "../support/enter.ts";
import { startTestServer } from "../support/test-server.ts";

const server = await startTestServer();
afterAll(() => server.stop());

async function scene(topic: string) {
  const watcher = await enter(server, "watcher", { topic });
  const alice = await enter(server, "alice", { topic });
  await watcher.event("join");
  return { watcher, alice };
}

test("[X0-4-3] the same id with the same body is acknowledged again with its first seq, and delivered once", async () => {
  const { watcher, alice } = await scene("room:again");
  const envelope = { id: "once", kind: "chat", to: ["watcher"], payload: { text: "hi" } };
  const { payload: first } = await alice.ack(alice.send(envelope));
  alice.say("between");
  const { payload: again } = await alice.ack(alice.send(envelope));
  expect([again.seq, again.at, again.epoch]).toEqual([first.seq, first.at, first.epoch]);
  expect((await watcher.taken()).map(({ payload }) => payload.text)).toEqual(["hi", "between"]);
});

test("[X0-4-3] ts is no part of the body, and neither is a `from` that says what is known anyway", async () => {
  const { watcher, alice } = await scene("room:ts");
  const envelope = { id: "once", kind: "chat", payload: { text: "hi" } };
  const { payload: first } = await alice.ack(alice.send({ ...envelope, ts: "2026-01-01T00:00:00Z" }));
  for (const more of [{ ts: "2027-01-01T00:00:00Z" }, { from: "alice" }, {}]) {
    expect((await alice.ack(alice.send({ ...envelope, ...more }))).payload.seq).toBe(first.seq);
  }
  expect((await watcher.taken()).map(({ ts }) => ts)).toEqual(["2026-01-01T00:00:00Z"]);
});

test.each([
  ["payload", { payload: { text: "other" } }],
  ["payload, by a space", { payload: { text: "hi " } }],
  ["to", { to: ["watcher"] }],
  ["correlation_id", { correlation_id: "x" }],
  ["kind", { kind: "mcp/proposal", payload: { method: "m", params: {} } }],
])("[X0-4-3] the same id with another %s is a conflict", async (name, change) => {
  const { watcher, alice } = await scene(`room:conflict-${name.slice(0, 7).trim()}-${name.length}`);
  const envelope = { id: "once", kind: "chat", payload: { text: "hi" } };
  await alice.ack(alice.send(envelope));
  expect(await alice.outcome(alice.send({ ...envelope, ...change }))).toBe("id_conflict");
  expect(await watcher.taken()).toHaveLength(1);
});

test("[X0-4-3] somebody else's id is a conflict, also with the same body; in another topic it is free", async () => {
  const { watcher, alice } = await scene("room:whose");
  await alice.ack(alice.say("hi", { id: "mine" }));
  expect(await watcher.outcome(watcher.say("hi", { id: "mine" }))).toBe("id_conflict");
  expect(await alice.taken()).toEqual([]);
  const elsewhere = await enter(server, "watcher", { topic: "room:elsewhere" });
  expect(await elsewhere.outcome(elsewhere.say("hi", { id: "mine" }))).toBe("ack");
});

test("[X0-4-3] a resend after a lost connection, and after a restart, is the same envelope", async () => {
  const topic = "room:resend";
  const { alice } = await scene(topic);
  const { payload: first } = await alice.ack(alice.say("hi", { id: "once" }));
  alice.ws.terminate();
  const back = await enter(server, "alice", { topic });
  expect((await back.ack(back.say("hi", { id: "once" }))).payload.seq).toBe(first.seq);
  await server.restart();
  const later = await enter(server, "alice", { topic });
  expect((await later.ack(later.say("hi", { id: "once" }))).payload.seq).toBe(first.seq);
  expect(later.welcome.payload.history.seq).toBe(1);
});

test("[X0-4-3] [X0-4-8] an ack of a resend never overtakes what stands before it", async () => {
  const { alice } = await scene("room:overtake");
  for (let round = 0; round < 20; round += 1) {
    // All three share a commit, where the third is known to be the second again.
    alice.say("first", { id: `a-${round}` });
    alice.say("second", { id: `b-${round}` });
    alice.say("second", { id: `b-${round}` });
    const seqs: number[] = [];
    while (seqs.length < 3) seqs.push((await alice.event("ack")).payload.seq);
    expect(seqs).toEqual([2 * round + 1, 2 * round + 2, 2 * round + 2]);
  }
});
