// Coming in while others publish at full speed: the stream begins exactly where the welcome says.
import { afterAll, expect, test } from "vitest";
import { enter } from "../support/enter.ts";
import type { TestClient } from "../support/test-client.ts";
import { startTestServer } from "../support/test-server.ts";

const server = await startTestServer({
  limits: { envelopesPerSecondFull: 100_000, queueEnvelopesMax: 100_000, handshakesPerSecond: 10_000 },
});
afterAll(() => server.stop());

const topic = "room:load";
const joins = 40;

/** Publishes without a pause, a few unacknowledged at a time, until it is told to stop. */
function publishing(client: TestClient): { stop: () => void; last: Promise<number> } {
  let isStopped = false;
  const last = (async () => {
    let seq = 0;
    while (!isStopped) {
      const ids = Array.from({ length: 16 }, () => client.say("."));
      seq = (await client.ack(ids.at(-1) ?? "")).payload.seq;
    }
    return seq;
  })();
  return {
    stop() {
      isStopped = true;
    },
    last,
  };
}

test("[B-RESUME-1] [X0-5.2-2] nothing is lost or doubled between the welcome and the first envelope", {
  timeout: 60_000,
}, async () => {
  const publishers = await Promise.all(["p1", "p2", "p3"].map((id) => enter(server, id, { topic })));
  const running = publishers.map(publishing);
  const newcomers: TestClient[] = [];
  for (let i = 0; i < joins; i += 1) {
    // Some ask for the last words too, some come back to a position, some just come.
    const more = [{}, { history: "5" }, { resume: `${publishers[0]?.welcome.payload.history.epoch}:0` }][
      i % 3
    ];
    newcomers.push(await enter(server, `n${i}`, { topic, query: { seq: "1", ...more } }));
  }
  for (const { stop } of running) stop();
  const last = Math.max(...(await Promise.all(running.map((one) => one.last))));
  expect(last).toBeGreaterThan(joins);
  for (const [i, client] of newcomers.entries()) {
    const { history } = client.welcome.payload;
    const begin = i % 3 === 2 ? 0 : history.seq;
    const seqs: number[] = [];
    while (seqs.at(-1) !== last && begin !== last)
      seqs.push((await client.find((m) => m.seq !== undefined)).seq);
    expect(seqs, `n${i}`).toEqual(Array.from({ length: last - begin }, (_, n) => begin + 1 + n));
    const recent = history.envelopes?.map(({ seq }: { seq: number }) => seq) ?? [];
    const expected =
      i % 3 === 1
        ? Array.from({ length: Math.min(5, begin) }, (_, n) => begin - Math.min(5, begin) + 1 + n)
        : [];
    expect(recent, `n${i}, recent`).toEqual(expected);
  }
});

test("[X0-6-1] a participant that takes over its own connection under load loses nothing by resuming", {
  timeout: 60_000,
}, async () => {
  const publisher = await enter(server, "talker", { topic: "room:takeover" });
  const running = publishing(publisher);
  let position = 0;
  let client = await enter(server, "hopper", { topic: "room:takeover", query: { seq: "1" } });
  const { epoch, seq } = client.welcome.payload.history;
  position = seq;
  const first = seq;
  const seen: number[] = [];
  for (let hop = 0; hop < 15; hop += 1) {
    for (let n = 0; n < 20; n += 1) seen.push((await client.find((m) => m.seq !== undefined)).seq);
    position = seen.at(-1) ?? position;
    const before = client;
    client = await enter(server, "hopper", {
      topic: "room:takeover",
      query: { seq: "1", resume: `${epoch}:${position}` },
    });
    expect(await before.closing()).toEqual({ code: 4409, reason: "replaced" });
  }
  running.stop();
  const last = await running.last;
  while (seen.at(-1) !== last) seen.push((await client.find((m) => m.seq !== undefined)).seq);
  expect(seen).toEqual(Array.from({ length: last - first }, (_, n) => first + 1 + n));
});
