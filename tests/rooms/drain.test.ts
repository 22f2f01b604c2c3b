// A clean stop under load: clients are told, what was acked is kept, and what was not is sent again without doubling.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { enter, enterWith, refusedOnConnect } from "../support/enter.ts";
import type { Seen, TestClient } from "../support/test-client.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer({ limits: { envelopesPerSecondFull: 100_000 } });
});
afterEach(() => server.stop());

const topic = "room:drain";

/** Sends without waiting, as long as the connection is there; keeps what it sent and what was acked. */
function babble(client: TestClient) {
  const sent: string[] = [];
  const acked = new Map<string, number>();
  client.ws.on("message", (data) => {
    const { payload } = JSON.parse(String(data));
    if (payload.event === "ack") acked.set(payload.id, payload.seq);
  });
  const timer = setInterval(() => {
    for (let i = 0; i < 20; i += 1) {
      sent.push(`${client.id}-${sent.length}`);
      client.say(".", { id: sent.at(-1) });
    }
  }, 2);
  client.ws.on("close", () => clearInterval(timer));
  return { client, sent, acked };
}

async function history(): Promise<{ id: string; seq: number }[]> {
  const token = await server.token({ sub: "reader", topics: [topic] });
  const all: Seen[] = [];
  let next: string | undefined = `/v0/topics/${topic}/history?limit=1000`;
  while (next !== undefined) {
    const { body }: Seen = await server.call("GET", next, token);
    all.push(...body.envelopes);
    next = body.next;
  }
  return all.reverse().map(({ id, seq }) => ({ id, seq }));
}

test("[B-RESUME-1] a stop under load loses nothing that was acked, and a resend doubles nothing", async () => {
  const tokens = await Promise.all(
    ["a", "b", "c"].map((sub) => server.token({ sub, topics: [topic], level: "full" })),
  );
  const babblers = (await Promise.all(tokens.map((token) => enterWith(server, token, { topic })))).map(
    babble,
  );
  await vi.waitUntil(() => babblers.every(({ acked }) => acked.size > 50));
  await server.restart();
  for (const { client } of babblers) {
    expect(await client.closing()).toMatchObject({ code: 4503 });
    const warning = client.inbox.find(({ payload }) => payload.event === "draining");
    expect(warning).toMatchObject({ kind: "system", from: "system:gateway", to: [client.id] });
    expect(warning.payload.reconnect_after_ms).toBeGreaterThanOrEqual(0);
  }
  const kept = new Map((await history()).map(({ id, seq }) => [id, seq]));
  for (const { acked } of babblers) {
    for (const [id, seq] of acked) expect(kept.get(id), id).toBe(seq);
  }
  const unsure = babblers.some(({ sent, acked }) => acked.size < sent.length);
  expect(unsure, "something was on its way").toBe(true);
  // Each comes back and sends again what it does not know to be kept.
  await Promise.all(
    babblers.map(async ({ sent, acked }, i) => {
      const back = await enterWith(server, tokens[i], { topic });
      for (const id of sent.filter((one) => !acked.has(one)))
        expect(await back.outcome(back.say(".", { id }))).toBe("ack");
    }),
  );
  const all = await history();
  expect(all.map(({ seq }) => seq)).toEqual(all.map((_, i) => i + 1));
  expect(all.map(({ id }) => id).sort()).toEqual(babblers.flatMap(({ sent }) => sent).sort());
});

test("[B-RESUME-1] who resumes after a restart has one story without a gap", async () => {
  const query = { seq: "1" };
  const reader = await enter(server, "reader", { topic, query });
  const speaker = babble(await enter(server, "speaker", { topic }));
  await vi.waitUntil(() => speaker.acked.size > 50);
  await server.restart();
  await reader.closing();
  const seqs = (client: TestClient) =>
    client.texts.map((text) => JSON.parse(text).seq).filter((seq) => seq !== undefined);
  const before = seqs(reader);
  const resume = `${reader.welcome.payload.history.epoch}:${before.at(-1)}`;
  const again = await enter(server, "reader", { topic, query: { ...query, resume } });
  expect(again.welcome.payload.resumed).toBe(true);
  const last = (await history()).length;
  if (before.at(-1) !== last) await again.find(({ seq }) => seq === last);
  expect([...before, ...seqs(again)]).toEqual(Array.from({ length: last }, (_, i) => i + 1));
});

test("while it drains it is not ready, and lets nobody in", async () => {
  // One who does not answer keeps the endpoint's last moment long enough to look at it.
  const sleeper = await enter(server, "sleeper", { topic });
  const token = await server.token({ sub: "late", topics: [topic], level: "full" });
  sleeper.ws.pause();
  const restarting = server.restart();
  await vi.waitFor(async () => {
    expect(await server.call("GET", "/readyz")).toEqual({ status: 503, body: { status: "not_ready" } });
  });
  const refusal = await refusedOnConnect(server, token, { topic });
  expect(refusal.message).toBe("503 draining");
  expect(Number(refusal.headers["retry-after"])).toBeGreaterThan(0);
  expect((await server.call("GET", "/healthz")).status).toBe(200);
  sleeper.ws.resume();
  await restarting;
  await (await enterWith(server, token, { topic })).leave();
});
