// SIGTERM under load: not ready at once, everybody told, acks flushed, exit 0; nothing lost, nothing doubled.
import { expect, test } from "vitest";
import { TestClient } from "../support/test-client.ts";
import { type ChildServer, startChildServer } from "./support/child-server.ts";

const isSoak = process.env.MCPX_SOAK === "1";
const listeners = isSoak ? 500 : 100;
const limits = { envelopesPerSecondFull: 100_000, handshakesPerSecond: 10_000 };

let server: ChildServer;

async function join(id: string): Promise<TestClient> {
  const [token] = await server.tokens("ship", [id]);
  return TestClient.connect(server.url, token, { topic: "ship", seq: "1" });
}

/** Publishes until the connection closes; returns what was acknowledged, by id. */
async function talk(client: TestClient): Promise<Map<string, number>> {
  const acked = new Map<string, number>();
  client.ws.on("message", (data) => {
    const { payload } = JSON.parse(String(data));
    if (payload.event === "ack") acked.set(payload.id, payload.seq);
  });
  while (client.closed === undefined) {
    for (let i = 0; i < 10; i += 1) client.say("aye");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return acked;
}

test("[B-DUR-1] SIGTERM under load: clients are told, what was acked was delivered, exit 0 within 15 s", {
  timeout: 60_000,
}, async () => {
  server = await startChildServer({ limits });
  const crew = await Promise.all(Array.from({ length: listeners }, (_, i) => join(`sailor-${i}`)));
  const captain = await join("captain");
  const talking = talk(captain);
  await crew[0]?.find(({ seq }) => seq === 50);

  const began = performance.now();
  const stopping = server.stop();
  const acked = await talking;
  const codes = await Promise.all(crew.map(async (sailor) => (await sailor.closing()).code));
  expect(await stopping).toBe(0);
  expect(performance.now() - began).toBeLessThan(15_000);

  expect(new Set(codes)).toEqual(new Set([4503]));
  expect(captain.closed?.code).toBe(4503);
  expect(acked.size).toBeGreaterThanOrEqual(50);
  const last = Math.max(...acked.values());
  for (const sailor of crew) {
    const envelopes = sailor.texts.map((text) => JSON.parse(text));
    expect(envelopes.filter(({ payload }) => payload.event === "draining")).toHaveLength(1);
    const seqs = envelopes.filter(({ from }) => from === "captain").map(({ seq }) => seq);
    // Everything acknowledged was delivered, in order, once.
    expect(seqs).toEqual(Array.from({ length: last }, (_, i) => i + 1));
  }
});

test("control: kill -9 tells nobody", { timeout: 60_000 }, async () => {
  server = await startChildServer({ limits });
  const sailor = await join("sailor");
  await sailor.event("welcome");
  await server.kill();
  expect((await sailor.closing()).code).toBe(1006);
  expect(sailor.texts.some((text) => text.includes("draining"))).toBe(false);
});
