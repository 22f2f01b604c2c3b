// How much a participant may send, and what it is told beyond that.
import { afterAll, expect, test, vi } from "vitest";
import { enter } from "../support/enter.ts";
import type { Seen, TestClient } from "../support/test-client.ts";
import { startTestServer } from "../support/test-server.ts";

const server = await startTestServer({
  limits: {
    envelopesPerSecondFull: 5,
    envelopesPerSecondRestricted: 2,
    burstFactor: 4,
    proposalsPerMinute: 3,
  },
});
afterAll(() => server.stop());

/** Sends many at once; returns what became of each. A refusal may come before the ack of what was sent earlier. */
async function flood(client: TestClient, count: number, envelope = chat): Promise<Seen[]> {
  const ids = Array.from({ length: count }, () => client.send(envelope));
  const answers = new Map<string, Seen>();
  while (answers.size < count) {
    const answer = await client.find(({ correlation_id }) => ids.includes(correlation_id));
    answers.set(answer.correlation_id, answer);
  }
  return ids.map((id) => answers.get(id));
}

const chat: Record<string, unknown> = { kind: "chat", payload: { text: "." } };
const proposal = { kind: "mcp/proposal", payload: { method: "tools/call", params: {} } };
const isAck = ({ payload }: Seen) => payload.event === "ack";

test.each([
  { level: "full", burst: 20, perSecond: 5 },
  { level: "responder", burst: 8, perSecond: 2 },
  { level: "restricted", burst: 8, perSecond: 2 },
] as const)(
  "[X0-9-4] $level may send $burst at once, then $perSecond a second, and is told when to go on",
  async ({ level, burst, perSecond }) => {
    const topic = `room:${level}`;
    const watcher = await enter(server, `watcher:${level}`, { topic });
    const client = await enter(server, `sender:${level}`, { topic, level });
    await watcher.event("join");
    const answers = await flood(client, burst + 6);
    const acked = answers.filter(isAck);
    expect(answers.slice(0, burst).every(isAck)).toBe(true);
    // Sending took its time, in which one or two more may have become due.
    expect(acked.length).toBeLessThanOrEqual(burst + 2);
    const { payload } = answers.filter((answer) => !isAck(answer)).at(-1);
    expect(payload).toMatchObject({ event: "error", code: 42901, reason: "rate_limited" });
    expect(payload.retry_after_ms).toBeGreaterThan(0);
    expect(payload.retry_after_ms).toBeLessThanOrEqual(1_000 / perSecond);
    expect(await watcher.taken()).toHaveLength(acked.length);
    const due = performance.now() + payload.retry_after_ms;
    await vi.waitUntil(() => performance.now() >= due, { interval: 5 });
    expect(await client.outcome(client.send(chat))).toBe("ack");
  },
);

test("[X0-9-4] a request over the limit is answered as a request", async () => {
  const client = await enter(server, "caller", { topic: "room:caller" });
  const request = { kind: "mcp", to: ["peer"], payload: { jsonrpc: "2.0", id: "q", method: "ping" } };
  const refused = (await flood(client, 26, request)).filter((answer) => !isAck(answer)).at(-1);
  expect(refused).toMatchObject({
    kind: "mcp",
    payload: {
      id: "q",
      error: { code: 42901, data: { reason: "rate_limited", retry_after_ms: expect.any(Number) } },
    },
  });
});

test("[X0-9-4] reconnecting, or another room, refills nothing; somebody else is not concerned", async () => {
  const topic = "room:again";
  const client = await enter(server, "returning", { topic, level: "restricted" });
  await flood(client, 12);
  client.ws.terminate();
  const again = await enter(server, "returning", { topic, level: "restricted" });
  const elsewhere = await enter(server, "returning", { topic: "room:elsewhere", level: "restricted" });
  const answers = [...(await flood(again, 5)), ...(await flood(elsewhere, 5))];
  expect(answers.filter(isAck).length).toBeLessThanOrEqual(2);
  const other = await enter(server, "other", { topic });
  expect(await other.outcome(other.send(chat))).toBe("ack");
});

test("[X1-7.3-1] proposals are counted by the minute, apart from everything else, and kept in history", async () => {
  const topic = "room:proposals";
  const client = await enter(server, "asker", { topic, level: "restricted" });
  const answers = await flood(client, 4, proposal);
  expect(answers.map(isAck)).toEqual([true, true, true, false]);
  const { payload } = answers[3];
  expect(payload.reason).toBe("rate_limited");
  expect(payload.retry_after_ms).toBeGreaterThan(15_000);
  expect(payload.retry_after_ms).toBeLessThanOrEqual(20_000);
  expect(await client.outcome(client.send(chat))).toBe("ack");
  const { body } = await server.call(
    "GET",
    `/v0/topics/${topic}/history`,
    await server.token({ sub: "reader", topics: [topic] }),
  );
  expect(body.envelopes.map(({ kind }: Seen) => kind)).toEqual(["chat", ...Array(3).fill("mcp/proposal")]);
  client.ws.terminate();
  const again = await enter(server, "asker", { topic, level: "restricted" });
  expect(await again.outcome(again.send(proposal))).toBe("rate_limited");
});

test("[X1-7.3-1] a proposal that is none costs nothing", async () => {
  const client = await enter(server, "clumsy", { topic: "room:clumsy" });
  for (let i = 0; i < 4; i += 1) {
    expect(await client.outcome(client.send({ kind: "mcp/proposal", payload: {} }))).toBe("bad_proposal");
  }
  expect((await flood(client, 3, proposal)).every(isAck)).toBe(true);
});
