// A topic that keeps no history: nothing of what is said there touches the disk.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { enter, positionOf } from "../support/enter.ts";
import { startTestServer } from "../support/test-server.ts";

const server = await startTestServer({
  gateway: { topics: { "quiet/*": { history: false } } },
  limits: { duplicateWindow: 3 },
});
afterAll(() => server.stop());

function filesWith(text: string): string[] {
  return readdirSync(server.dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => readFileSync(path).includes(text));
}

test("[X0-5.3-5] nothing said in it is on disk or in the log, while the server runs and after", async () => {
  const secrets = ["swordfish-text", "swordfish-id", "swordfish-method"];
  for (const topic of ["quiet/room", "loud/room"]) {
    const prefix = topic.startsWith("loud") ? "loud-" : "";
    const watcher = await enter(server, "watcher", { topic });
    const client = await enter(server, "alice", { topic });
    await client.ack(client.say(`${prefix}swordfish-text`, { id: `${prefix}swordfish-id` }));
    const payload = { method: `${prefix}swordfish-method`, params: {} };
    await client.ack(client.send({ kind: "mcp/proposal", payload }));
    // Refused ones leave no trace either.
    expect(
      await client.outcome(client.send({ kind: "chat", payload: { txt: `${prefix}swordfish-text` } })),
    ).toBe("bad_chat");
    expect((await watcher.taken()).map(({ kind }) => kind)).toEqual(["presence", "chat", "mcp/proposal"]);
    await Promise.all([watcher.leave(), client.leave()]);
  }
  for (const secret of secrets) expect(filesWith(`loud-${secret}`), "control").not.toEqual([]);
  await server.restart();
  for (const secret of secrets) {
    const everywhere = filesWith(secret);
    const text = everywhere.map((path) => readFileSync(path, "latin1")).join("");
    expect(text.replaceAll(`loud-${secret}`, "")).not.toContain(secret);
    expect(server.logged.join("")).not.toContain(secret);
  }
});

test("[X0-5.3-5] the welcome says so, brings no past, and numbers go on all the same", async () => {
  const topic = "quiet/welcome";
  const first = await enter(server, "alice", { topic, query: { seq: "1" } });
  expect(first.welcome.payload.history).toMatchObject({ enabled: false, seq: 0 });
  const bob = await enter(server, "bob", { topic });
  expect((await bob.ack(bob.say("one"))).payload.seq).toBe(1);
  expect((await bob.ack(bob.say("two"))).payload.seq).toBe(2);
  await first.find(({ seq }) => seq === 2);
  const late = await enter(server, "late", { topic, query: { history: "10" } });
  expect(late.welcome.payload.history).toMatchObject({ enabled: false, seq: 2 });
  expect(late.welcome.payload.history).not.toHaveProperty("envelopes");
  const { body } = await server.call(
    "GET",
    "/v0/topics",
    await server.token({ sub: "reader", topics: [topic] }),
  );
  expect(body.topics).toEqual([{ name: topic, participants: 3, seq: 2 }]);
});

test("[X0-5.3-5] REST answers 404 and resume is refused plainly", async () => {
  const topic = "quiet/rest";
  const bob = await enter(server, "bob", { topic });
  await bob.ack(bob.say("one"));
  const { status, body } = await server.call(
    "GET",
    `/v0/topics/${encodeURIComponent(topic)}/history`,
    await server.token({ sub: "reader", topics: [topic] }),
  );
  expect(`${status} ${body.error.reason}`).toBe("404 history_disabled");
  const alice = await enter(server, "alice", { topic, query: { resume: positionOf(bob, 0) } });
  expect(alice.welcome.payload).toMatchObject({ resumed: false, reason: "history_disabled" });
});

test("[X0-5.3-5] [X0-4-3] duplicates are known inside the window, and forgotten beyond it", async () => {
  const topic = "quiet/window";
  const bob = await enter(server, "bob", { topic });
  const seqOf = async (id: string, text = id) => (await bob.ack(bob.say(text, { id }))).payload.seq;
  expect([await seqOf("a"), await seqOf("b"), await seqOf("c")]).toEqual([1, 2, 3]);
  expect(await seqOf("a")).toBe(1);
  expect(await bob.outcome(bob.say("other", { id: "a" }))).toBe("id_conflict");
  expect(await seqOf("d")).toBe(4);
  expect(await seqOf("a", "anew")).toBe(5);
});

test("[PL-3-2] what the window still knows is checked there too", async () => {
  const topic = "quiet/proposals";
  const [alice, bob] = await Promise.all([
    enter(server, "alice", { topic }),
    enter(server, "bob", { topic }),
  ]);
  const id = alice.send({ kind: "mcp/proposal", payload: { method: "m", params: {} } });
  await alice.ack(id);
  const withdraw = () =>
    bob.outcome(bob.send({ kind: "mcpx.withdraw.proposal", correlation_id: id, payload: {} }));
  expect(await withdraw()).toBe("not_the_proposer");
  for (let i = 0; i < 3; i += 1) await alice.ack(alice.say("."));
  expect(await withdraw()).toBe("ack");
});

test("[X0-5.3-5] what all such topics remember is bounded in bytes, a flood in one takes nothing from others, and numbers go on", async () => {
  const busy = await startTestServer({ gateway: { topics: { "quiet/*": { history: false } } } });
  try {
    const alice = await enter(busy, "alice", { topic: "quiet/first" });
    await alice.ack(alice.say("one", { id: "a" }));
    expect(await alice.outcome(alice.say("another", { id: "a" })), "control").toBe("id_conflict");
    const bob = await enter(busy, "bob", { topic: "quiet/second" });
    // Two bytes a character: more than 64 MiB.
    const text = "x".repeat(250_000);
    for (let i = 0; i < 140; i += 1) await bob.ack(bob.say(text, { id: `${i}` }));
    expect(await alice.outcome(alice.say("another", { id: "a" }))).toBe("id_conflict");
    expect((await alice.answer(alice.say("two", { id: "b" }))).payload.seq).toBe(2);
    expect(await bob.outcome(bob.say("another", { id: "139" }))).toBe("id_conflict");
    expect((await bob.answer(bob.say("another", { id: "0" }))).payload.seq).toBe(141);
  } finally {
    await busy.stop();
  }
});
