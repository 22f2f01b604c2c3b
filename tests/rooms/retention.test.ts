// What a topic no longer keeps: seen from REST, from resume, and by who was just reading it.
import { join } from "node:path";
import { createSqliteTopicLog, type Retention } from "@mcpx/gateway";
import { afterAll, expect, test, vi } from "vitest";
import { enter, positionOf } from "../support/enter.ts";
import type { Seen, TestClient } from "../support/test-client.ts";
import { startTestServer } from "../support/test-server.ts";

const server = await startTestServer({
  limits: { envelopesPerSecondFull: 10_000, queueBytesMax: 262_144, pingTimeoutMs: 600_000 },
});
afterAll(() => server.stop());

/** Trims as the gateway does each minute, beside it. */
async function trim(topic: string, retention: Retention, now = Date.now()): Promise<void> {
  const log = await createSqliteTopicLog({ path: join(server.dataDir, "topics.db") });
  await log.trim(topic, retention, now);
  await log.close();
}

async function ids(topic: string, query = ""): Promise<string[]> {
  const token = await server.token({ sub: "reader", topics: [topic] });
  const { body } = await server.call("GET", `/v0/topics/${topic}/history?${query}`, token);
  return body.envelopes.map(({ id }: Seen) => id);
}

async function say(client: TestClient, ...texts: string[]): Promise<string> {
  let at = "";
  for (const text of texts) at = (await client.ack(client.say(text, { id: text }))).payload.at;
  return at;
}

test("[X0-5.3-5] beyond the count the oldest go; numbers and the newest stay", async () => {
  const topic = "room:count";
  const client = await enter(server, "alice", { topic });
  await say(client, "a", "b", "c", "d");
  await trim(topic, { count: 2 });
  expect(await ids(topic)).toEqual(["d", "c"]);
  expect((await client.ack(client.say("e", { id: "e" }))).payload.seq).toBe(5);
  // What is gone is unknown: its place in history, and its id.
  const token = await server.token({ sub: "reader", topics: [topic] });
  expect((await server.call("GET", `/v0/topics/${topic}/history?before=a`, token)).status).toBe(404);
  expect((await client.ack(client.say("a", { id: "a" }))).payload.seq).toBe(6);
  expect((await client.ack(client.say("d", { id: "d" }))).payload.seq).toBe(4);
});

test("[X0-5.3-5] beyond the age they go too", async () => {
  const topic = "room:age";
  const client = await enter(server, "alice", { topic });
  const oldAt = Date.parse(await say(client, "old"));
  await vi.waitUntil(() => Date.now() > oldAt);
  const at = Date.parse(await say(client, "new"));
  await trim(topic, { ageMs: 1_000 }, at + 1_000);
  expect(await ids(topic)).toEqual(["new"]);
  await trim(topic, { ageMs: 1_000 }, at + 1_001);
  expect(await ids(topic)).toEqual([]);
  expect((await client.ack(client.say("newer"))).payload.seq).toBe(3);
});

test("[B-RESUME-1] trimmed under a reader's feet, it is cut off rather than given a gap, and told why when it returns", async () => {
  const topic = "room:feet";
  const speaker = await enter(server, "speaker", { topic });
  const count = 800;
  for (let i = 0; i < count; i += 1) await speaker.ack(speaker.say("x".repeat(20_000)));
  const query = { seq: "1", resume: positionOf(speaker, 0) };
  const reader = await enter(server, "reader", { topic, query });
  reader.ws.pause();
  const admin = await server.adminToken();
  const position = async () => {
    const { body } = await server.call("GET", "/admin/connections", admin);
    return body.connections.find(({ participantId }: Seen) => participantId === "reader").seq;
  };
  let before = -1;
  const standsStill = async () => {
    const last = before;
    before = await position();
    return before === last;
  };
  await vi.waitUntil(standsStill, { timeout: 10_000, interval: 200 });
  expect(await position()).toBeLessThan(count - 64);
  await trim(topic, { count: 1 });
  reader.ws.resume();
  expect(await reader.closing()).toEqual({ code: 4508, reason: "history_trimmed" });
  const seqs = reader.texts.map((text) => JSON.parse(text).seq).filter((seq) => seq !== undefined);
  expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, i) => i + 1));
  const again = await enter(server, "reader", { topic, query: { resume: positionOf(reader, seqs.length) } });
  expect(again.welcome.payload).toMatchObject({ resumed: false, reason: "history_trimmed" });
});
