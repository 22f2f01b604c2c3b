// Rooms whose topic log is on PostgreSQL: the transcripts that every gateway plays, and an engine that goes away.
import { join } from "node:path";
import { configurationOf, play, readTranscript, readTranscripts } from "@mcpx/conform";
import { createPostgresTopicLog } from "@mcpx/gateway";
import type { TokenClaims } from "@mcpx/host";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { startPostgres } from "../support/postgres-server.ts";
import { ResumingClient } from "../support/resuming-client.ts";
import { startTestServer } from "../support/test-server.ts";
import { startDoorProxy } from "./support/door-proxy.ts";

/** Not a secret: of tests. */
const key = Buffer.alloc(32, 7);
const postgres = await startPostgres();
afterAll(() => postgres[Symbol.asyncDispose]());

/** What stands and falls with the log; all of them in `npm run soak`. */
const aboutTheLog = /^(chat|history|referred|rest|resume|sending|seq|withdraw)/;
const isSoak = process.env.MCPX_SOAK === "1";
const folder = join(import.meta.dirname, "..", "..", "spec", "transcripts");

describe("the same story is told", () => {
  const files = readTranscripts(folder).filter(({ file }) => isSoak || aboutTheLog.test(file));
  for (const { file, text } of files) {
    const transcript = readTranscript(text);
    test.concurrent(`${transcript.title} (${file})`, async () => {
      const store = { url: postgres.url(), key };
      const server = await startTestServer({
        ...JSON.parse(configurationOf(transcript) ?? "{}"),
        store,
      });
      try {
        await play(transcript, {
          url: server.url,
          mint: (claims: object) => server.token(claims as TokenClaims),
          restart: () => server.restart(),
          async trim(topic: string, count: number): Promise<void> {
            const log = await createPostgresTopicLog({ url: store.url });
            await log.trim(topic, { count }, Date.now());
            await log.close();
          },
        });
      } finally {
        await server.stop();
      }
    });
  }
});

/** Two who come back by themselves, in a room whose engine is behind a door that can be shut. */
async function openRoom(schema: string) {
  const proxy = await startDoorProxy(postgres.port);
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  const store = { url: postgres.tcpUrl({ port: proxy.port, schema }), key };
  const server = await startTestServer({ store });
  onTestFinished(() => server.stop());
  const address = `${server.url.replace("http", "ws")}/v0/ws?topic=room`;
  const clientOf = async (sub: string) => {
    const token = await server.token({ sub, topics: ["room"], level: "full" });
    const client = new ResumingClient(() => address, token);
    const running = client.run();
    onTestFinished(async () => {
      client.stop();
      await running;
    });
    await expect.poll(() => client.connects).toBe(1);
    return client;
  };
  const [ada, bob] = [await clientOf("ada"), await clientOf("bob")];
  const isReady = async () => (await fetch(`${server.url}/readyz`)).ok;
  return { server, proxy, ada, bob, isReady };
}

type Opened = Awaited<ReturnType<typeof openRoom>>;

/** Ada says something that is stored, and nobody learns of it: the engine goes away before it has answered. */
async function loseAnAnswer(schema: string, { proxy, ada, isReady }: Opened): Promise<string> {
  ada.publish("before");
  await expect.poll(() => ada.acked.size).toBe(1);
  expect(await isReady(), "control").toBe(true);
  const holder = await postgres.connect();
  await holder.query(`BEGIN; SELECT 1 FROM ${schema}.topics FOR UPDATE`);
  const lost = ada.publish("lost");
  await expect.poll(() => postgres.sql("SELECT 1 FROM pg_locks WHERE NOT granted")).toHaveLength(1);
  proxy.shut();
  await expect.poll(isReady).toBe(false);
  await holder.query("COMMIT");
  await holder.end();
  const stored = `SELECT 1 FROM ${schema}.envelopes WHERE id = $1`;
  await expect.poll(() => postgres.sql(stored, [lost])).toHaveLength(1);
  proxy.open();
  await expect.poll(isReady).toBe(true);
  return lost;
}

const textsOf = (client: ResumingClient) => client.seen.map(({ seq, text }) => `${seq} ${text}`);

test("[B-RESUME-1] what was stored without an answer reaches everybody once it is sent again", async () => {
  const room = await openRoom("answers");
  const { ada, bob } = room;
  const lost = await loseAnAnswer("answers", room);
  expect(textsOf(bob), "control: nobody was given it").toEqual(["1 before"]);
  // She comes back and sends what was not acknowledged.
  ada.cut();
  await expect.poll(() => ada.acked.get(lost)).toBe(2);
  await expect.poll(() => textsOf(bob)).toEqual(["1 before", "2 lost"]);
  bob.publish("after");
  await expect.poll(() => textsOf(ada)).toContain("3 after");
  expect([...ada.faults, ...bob.faults]).toEqual([]);
});

test("[B-RESUME-1] what was stored without an answer is no gap for those who hear what comes next", async () => {
  const room = await openRoom("gaps");
  const { ada, bob } = room;
  await loseAnAnswer("gaps", room);
  const after = bob.publish("after");
  await expect.poll(() => bob.acked.get(after)).toBe(3);
  await expect.poll(() => textsOf(bob)).toEqual(["1 before", "2 lost"]);
  await expect.poll(() => textsOf(ada)).toContain("3 after");
  expect([...ada.faults, ...bob.faults]).toEqual([]);
});
