// A reader that stops reading is cut off by each of three bounds, told so, and may come back to where it was.
import type { Limits } from "@mcpx/protocol";
import { afterEach, expect, test } from "vitest";
import { enter, positionOf } from "../support/enter.ts";
import type { Seen, TestClient } from "../support/test-client.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

let server: TestServer;
afterEach(() => server.stop());

const unbound = { queueBytesMax: 2 ** 30, queueEnvelopesMax: 1_000_000, queueStallMs: 600_000 };
const text = "x".repeat(60_000);

const bounds: [string, Partial<Limits>][] = [
  ["bytes that wait", { queueBytesMax: 131_072 }],
  ["envelopes that wait", { queueEnvelopesMax: 5 }],
  ["time without progress", { queueStallMs: 300 }],
];

async function queuedFor(id: string): Promise<number | undefined> {
  const { body } = await server.call("GET", "/admin/connections", await server.adminToken());
  return body.connections.find(({ participantId }: Seen) => participantId === id)?.queuedBytes;
}

/** Publishes until the sleeper's queue begins to fill, and then a little more. */
async function fill(speaker: TestClient): Promise<void> {
  do await speaker.ack(speaker.say(text));
  while ((await queuedFor("sleeper")) === 0);
  for (let i = 0; i < 8; i += 1) await speaker.ack(speaker.say(text));
}

const seqsOf = (client: TestClient): number[] =>
  client.texts.map((one) => JSON.parse(one).seq).filter((seq) => seq !== undefined);

test.each(bounds)(
  "[B-RESUME-1] too much of %s ends in 4508, and nothing is lost",
  { timeout: 60_000 },
  async (_name, bound) => {
    server = await startTestServer({
      limits: { ...unbound, ...bound, envelopesPerSecondFull: 10_000, pingTimeoutMs: 600_000 },
    });
    const query = { seq: "1" };
    const reader = await enter(server, "reader", { query });
    const sleeper = await enter(server, "sleeper", { query });
    const speaker = await enter(server, "speaker");
    sleeper.ws.pause();
    await fill(speaker);
    const { payload } = await reader.event("leave");
    expect(payload).toMatchObject({ participant: { id: "sleeper" }, reason: "too_slow" });
    // What is said to the others goes on.
    const { payload: ack } = await speaker.ack(speaker.say("still here?"));
    await reader.find(({ seq }) => seq === ack.seq);
    expect(seqsOf(reader)).toEqual(Array.from({ length: ack.seq }, (_, i) => i + 1));
    sleeper.ws.resume();
    expect(await sleeper.closing()).toEqual({ code: 4508, reason: "too_slow" });
    const before = seqsOf(sleeper);
    const resume = positionOf(sleeper, before.at(-1) ?? 0);
    const awake = await enter(server, "sleeper", { query: { ...query, resume } });
    await awake.find(({ seq }) => seq === ack.seq);
    expect([...before, ...seqsOf(awake)]).toEqual(Array.from({ length: ack.seq }, (_, i) => i + 1));
  },
);

test("[B-RESUME-1] who comes back to more than its queue may hold is given it at its own pace", {
  timeout: 60_000,
}, async () => {
  server = await startTestServer({
    limits: { queueBytesMax: 262_144, queueEnvelopesMax: 10, envelopesPerSecondFull: 10_000 },
  });
  const speaker = await enter(server, "speaker");
  const count = 200;
  for (let i = 0; i < count; i += 1) await speaker.ack(speaker.say(text));
  const client = await enter(server, "returning", { query: { seq: "1", resume: positionOf(speaker, 0) } });
  await client.find(({ seq }) => seq === count);
  expect(seqsOf(client)).toEqual(Array.from({ length: count }, (_, i) => i + 1));
});

test("[B-RESUME-1] coming back is not too slow only because the gateway queued too much itself", {
  timeout: 60_000,
}, async () => {
  server = await startTestServer({
    gateway: { presenceHeartbeatMs: 1_000 },
    limits: { queueEnvelopesMax: 8, envelopesPerSecondFull: 10_000 },
  });
  const speaker = await enter(server, "speaker");
  const count = 400;
  for (let i = 0; i < count; i += 1) await speaker.ack(speaker.say("y".repeat(20_000)));
  // Before: entering may take long, and whoever reads nothing for eight heartbeats is too slow indeed.
  const watcher = await enter(server, "watcher", { topic: "room:other" });
  const client = await enter(server, "returning", { query: { seq: "1", resume: positionOf(speaker, 0) } });
  // It reads nothing until the gateway has looked twice after its connections.
  client.ws.pause();
  for (let beat = 0; beat < 2; beat += 1) await watcher.event("heartbeat");
  client.ws.resume();
  await client.find(({ seq }) => seq === count);
  expect(seqsOf(client)).toEqual(Array.from({ length: count }, (_, i) => i + 1));
});

test.each([
  ["many small envelopes", 300, "z"],
  ["a few large ones", 1, "z".repeat(200_000)],
])("a burst of %s from many senders at once makes no healthy reader slow", async (_name, each, word) => {
  server = await startTestServer({ limits: { envelopesPerSecondFull: 10_000 } });
  const readers = await Promise.all(["r1", "r2"].map((id) => enter(server, id, { query: { seq: "1" } })));
  const senders = await Promise.all(["s1", "s2", "s3", "s4", "s5", "s6"].map((id) => enter(server, id)));
  for (let i = 0; i < each; i += 1) for (const sender of senders) sender.say(word);
  const total = each * senders.length;
  for (const reader of readers) {
    await reader.find(({ seq }) => seq === total);
    expect(seqsOf(reader)).toHaveLength(total);
  }
  for (const client of [...readers, ...senders]) expect(client.closed).toBeUndefined();
});
