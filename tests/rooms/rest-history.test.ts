// GET /v0/topics/{topic}/history: pages, newest first.
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { enter } from "../support/enter.ts";
import type { Seen } from "../support/test-client.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

const topic = "room:pages/a+b";
const path = `/v0/topics/${encodeURIComponent(topic)}/history`;
const count = 1_205;
let server: TestServer;
let token: string;
/** When each was received, oldest first. */
const ats: string[] = [];

beforeAll(async () => {
  server = await startTestServer({ limits: { envelopesPerSecondFull: 100_000, queueEnvelopesMax: 100_000 } });
  token = await server.token({ sub: "reader", topics: [topic] });
  const client = await enter(server, "writer", { topic });
  const say = async (n: number) =>
    ats.push((await client.ack(client.say(`${n}`, { id: `e${n}` }))).payload.at);
  // The first ten each in a millisecond of their own.
  for (let n = 1; n <= 10; n += 1) {
    await say(n);
    await vi.waitUntil(() => Date.now() > Date.parse(ats.at(-1) ?? ""), { interval: 1 });
  }
  for (let n = 11; n < count; n += 1) client.say(`${n}`, { id: `e${n}` });
  await say(count);
  await client.leave();
});
afterAll(() => server.stop());

const get = async (query = "") => server.call("GET", `${path}?${query}`, token);
const seqs = async (query: string) => (await get(query)).body.envelopes.map(({ seq }: Seen) => seq);

/** From `high` down to `low`. */
const down = (high: number, low: number) => Array.from({ length: high - low + 1 }, (_, i) => high - i);

test("[X0-5.3-3] [X0-5.3-4] a page is newest first and has 100 unless another limit is given, at most 1000", async () => {
  expect(await seqs("")).toEqual(down(count, count - 99));
  expect(await seqs("limit=3")).toEqual(down(count, count - 2));
  expect(await seqs("limit=5000")).toHaveLength(1_000);
});

test("[X0-5.3-3] each envelope is as it was sent, with its seq and at", async () => {
  const { body } = await get("limit=1");
  expect(body.envelopes[0]).toEqual({
    protocol: "mcpx/v0.1",
    kind: "chat",
    payload: { text: `${count}` },
    id: `e${count}`,
    ts: expect.any(String),
    from: "writer",
    seq: count,
    at: ats.at(-1),
  });
});

test("[X0-5.3-4] presence and what the gateway says are not in it", async () => {
  const { body } = await get("limit=1000&before_seq=6");
  expect(body.envelopes.map(({ from }: Seen) => from)).toEqual(Array(5).fill("writer"));
});

describe("[X0-5.3-3] [X0-5.3-4] before and after, by id, by seq and by time, leave out the point itself:", () => {
  test.each([
    ["before=e6", down(5, 1)],
    ["before_seq=6", down(5, 1)],
    ["after=e6&before=e9", [8, 7]],
    ["after_seq=6&before_seq=9", [8, 7]],
    ["before=e1", []],
    ["before_seq=0", []],
    [`after=e${count}`, []],
    [`after_seq=${count + 10}`, []],
    ["after=e9&before=e6", []],
  ])("%s", async (query, expected) => {
    expect(await seqs(`${query}&limit=1000`)).toEqual(expected);
  });

  test("by time", async () => {
    const at = (n: number) => encodeURIComponent(ats[n - 1] ?? "");
    expect(await seqs(`before=${at(6)}`)).toEqual(down(5, 1));
    expect(await seqs(`after=${at(6)}&before=${at(9)}`)).toEqual([8, 7]);
    expect(await seqs("before=1999-01-01T00:00:00Z")).toEqual([]);
    expect(await seqs("after=2999-01-01T00:00:00Z")).toEqual([]);
    // The same moment, told in another zone.
    const shifted = new Date(Date.parse(ats[5] ?? "") + 7_200_000).toISOString().replace("Z", "+02:00");
    expect(await seqs(`before=${encodeURIComponent(shifted)}`)).toEqual(down(5, 1));
  });
});

test.each([
  ["before=unknown", 404, "not_found"],
  ["after=unknown", 404, "not_found"],
  ["before=two%20words", 400, "bad_request"],
  ["limit=0", 400, "bad_request"],
  ["limit=-1", 400, "bad_request"],
  ["limit=ten", 400, "bad_request"],
  ["before_seq=1.5", 400, "bad_request"],
])("[X0-5.3-4] %s is a %i", async (query, status, reason) => {
  const answer = await get(query);
  expect(answer.status).toBe(status);
  expect(answer.body.error).toMatchObject({ reason, code: expect.any(Number), message: expect.any(String) });
});

test.each([
  "limit=100",
  "limit=1000",
  "limit=7&after_seq=1100",
  "limit=1205",
  "limit=50&before=e300&after=e100",
])("[X0-5.3-3] following next from %s walks everything exactly once", async (query) => {
  const { body: whole } = await get(`${query}&limit=1000`.replace(/^limit=\d+&/, ""));
  const walked: number[] = [];
  let next: string | undefined = `${path}?${query}`;
  while (next !== undefined) {
    const { body, status }: Seen = await server.call("GET", next, token);
    expect(status).toBe(200);
    walked.push(...body.envelopes.map(({ seq }: Seen) => seq));
    next = body.next;
  }
  const from = walked[0] ?? 0;
  const to = walked.at(-1) ?? 0;
  expect(walked).toEqual(down(from, to));
  expect(from).toBe(whole.envelopes[0].seq);
  const after = /after(?:_seq=|=e)(\d+)/.exec(query)?.[1];
  expect(to).toBe(after === undefined ? 1 : Number(after) + 1);
});

test("[X0-5.3-3] a walk that began is not disturbed by what is said meanwhile", async () => {
  const first = (await get("limit=600")).body;
  const client = await enter(server, "writer", { topic });
  await client.ack(client.say("later", { id: "later" }));
  const second = (await server.call("GET", first.next, token)).body;
  const walked = [...first.envelopes, ...second.envelopes].map(({ seq }: Seen) => seq);
  expect(walked).toEqual(down(count, count - 1_199));
});
