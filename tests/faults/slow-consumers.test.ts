// Readers that stop are cut off by a bound; the others do not notice, memory does not grow, and resume works.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { TestClient } from "../support/test-client.ts";
import { type ChildServer, startChildServer } from "./support/child-server.ts";

const isSoak = process.env.MCPX_SOAK === "1";
const healthy = isSoak ? 400 : 40;
const stopped = isSoak ? 100 : 10;
const size = 8_000;
const envelopes = 600;
const mebibyte = 1_048_576;

let server: ChildServer;

async function join(id: string, query: Record<string, string> = {}): Promise<TestClient> {
  const [token] = await server.tokens("river", [id]);
  return TestClient.connect(server.url, token, { topic: "river", seq: "1", ...query });
}

async function flood(queueBytesMax: number) {
  const limits = {
    envelopesPerSecondFull: 100_000,
    handshakesPerSecond: 10_000,
    queueBytesMax,
    queueEnvelopesMax: 100_000,
  };
  server = await startChildServer({ limits });
  const readers = await Promise.all(Array.from({ length: healthy }, (_, i) => join(`reader-${i}`)));
  const sleepers = await Promise.all(Array.from({ length: stopped }, (_, i) => join(`sleeper-${i}`)));
  await Promise.all(sleepers.map((sleeper) => sleeper.event("welcome")));
  for (const sleeper of sleepers) sleeper.ws.pause();
  const speaker = await join("speaker");
  const before = await server.liveBytes();
  for (let n = 0; n < envelopes; n += 20) {
    const ids = Array.from({ length: 20 }, () => speaker.say("x".repeat(size)));
    for (const id of ids) await speaker.ack(id);
  }
  await Promise.all(readers.map((reader) => reader.find(({ seq }) => seq === envelopes)));
  return { sleepers, readers, before };
}

test("[B-RESUME-1] stopped readers are closed with 4508, the others get everything, and they resume", {
  timeout: 120_000,
}, async () => {
  const { sleepers, readers, before } = await flood(256 * 1024);
  for (const reader of readers) {
    const seqs = reader.texts.map((text) => JSON.parse(text).seq).filter((seq) => seq !== undefined);
    expect(seqs).toEqual(Array.from({ length: envelopes }, (_, i) => i + 1));
  }
  for (const sleeper of sleepers) sleeper.ws.resume();
  const codes = await Promise.all(sleepers.map(async (sleeper) => (await sleeper.closing()).code));
  // Those whose kernel could still take the close frame saw 4508; the rest were cut.
  expect(codes.every((code) => code === 4508 || code === 1006)).toBe(true);
  expect(codes).toContain(4508);
  // What waited for them is bounded, and gone with them; unbounded, it would be five times as much and stay.
  while ((await server.liveBytes()) - before > stopped * mebibyte) await sleep(20);

  const woken = sleepers[0] as TestClient;
  const messages = woken.texts.map((text) => JSON.parse(text));
  const { epoch } = messages[0].payload.history;
  const seen = messages.map(({ seq }) => seq).filter((seq) => seq !== undefined);
  const again = await join("sleeper-0", { resume: `${epoch}:${seen.at(-1) ?? 0}` });
  expect((await again.next()).payload.resumed).toBe(true);
  await again.find(({ seq }) => seq === envelopes);
  const rest = again.texts.map((text) => JSON.parse(text).seq).filter((seq) => seq !== undefined);
  expect([...seen, ...rest]).toEqual(Array.from({ length: envelopes }, (_, i) => i + 1));
});

test("control: without the bound the stopped readers are not cut off", { timeout: 120_000 }, async () => {
  const { sleepers } = await flood(1024 * mebibyte);
  expect(sleepers.every(({ closed }) => closed === undefined)).toBe(true);
  const kept = await Promise.all(
    sleepers.map((sleeper) => {
      sleeper.ws.resume();
      return sleeper.find(({ seq }) => seq === envelopes);
    }),
  );
  expect(kept).toHaveLength(stopped);
});
