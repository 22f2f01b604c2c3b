// The disk says no to an fsync: from there on nothing is acknowledged, loudly, and what was acknowledged stays.
import { expect, test } from "vitest";
import { enterWith } from "../support/enter.ts";
import type { TestClient } from "../support/test-client.ts";
import { newDirectory } from "./support/disk.ts";
import { readTopic } from "./support/examine.ts";
import { type ServerProcess, startServerProcess } from "./support/server-process.ts";
import { scale, timeout } from "./support/soak.ts";
import { mintTokens } from "./support/tokens.ts";

const topic = "room:fsync";
const said = scale(30, 2_000);
/** Counted for each thread by itself: of the log's writer so many fsyncs, less one, succeed. */
const firstFailing = scale(12, 1_000);
const tracer = [
  ...["strace", "--follow-forks", "--seccomp-bpf", "--quiet=all", "--output=/dev/null"],
  "--trace=fsync,fdatasync",
  `--inject=fsync,fdatasync:error=EIO:when=${firstFailing}+`,
];

interface Story {
  dataDir: string;
  token: string;
  server: ServerProcess;
  client: TestClient;
  /** Of each envelope, in order: `ack`, or why not. */
  outcomes: string[];
}

/** Each envelope waits for the answer to the one before, so each acknowledgement needs an fsync of its own. */
async function talkOneByOne(under: string[], synchronous: "FULL" | "OFF" = "FULL"): Promise<Story> {
  const dataDir = newDirectory();
  const [token = ""] = await mintTokens(dataDir, [{ sub: "ada", topics: [topic], level: "full" }]);
  // The stores are made while the disk is well.
  await (await startServerProcess({ dataDir })).stop();
  const server = await startServerProcess({ dataDir, topicLog: { synchronous } }, under);
  const client = await enterWith(server, token, { topic });
  const outcomes: string[] = [];
  for (let n = 0; n < said; n += 1) outcomes.push(await client.outcome(client.say(`${n}`, { id: `e${n}` })));
  return { dataDir, token, server, client, outcomes };
}

const all = (outcome: string) => Array(said).fill(outcome);
const ids = (count: number) => Array.from({ length: count }, (_, n) => `e${n}`);
const readiness = async ({ url }: ServerProcess) => (await fetch(`${url}/readyz`)).status;

test("[B-DUR-1] after the first failed fsync nothing more is acknowledged", { timeout }, async () => {
  const { dataDir, token, server, client, outcomes } = await talkOneByOne(tracer);
  const acked = outcomes.indexOf("storage_failed");
  expect(acked).toBeGreaterThan(0);
  expect(acked).toBeLessThan(firstFailing);
  expect(outcomes).toEqual([...all("ack").slice(0, acked), ...all("storage_failed").slice(acked)]);

  expect(await readiness(server)).toBe(503);
  const fatal = server.logged.map((line) => JSON.parse(line)).filter(({ level }) => level === 60);
  expect(fatal).toMatchObject([{ msg: "the store failed; no more envelopes are acknowledged" }]);

  const readable = (await readTopic(server.url, token, topic)).map(({ id }) => id);
  expect(readable).toEqual(ids(acked));
  const other = await enterWith(server, token, { topic, history: "1000" });
  expect(other.welcome.payload.history.envelopes.map(({ id }: { id: string }) => id)).toEqual(readable);
  expect(await client.closing()).toMatchObject({ code: 4409 });

  await server.kill();
  const again = await startServerProcess({ dataDir });
  const kept = await readTopic(again.url, token, topic);
  expect(kept.slice(0, acked).map(({ id }) => id)).toEqual(ids(acked));
  // The refused may have reached the disk or not; sent again they are there once.
  const back = await enterWith(again, token, { topic });
  for (const id of ids(said)) expect(await back.outcome(back.say(id.slice(1), { id }))).toBe("ack");
  expect((await readTopic(again.url, token, topic)).map(({ id }) => id)).toEqual(ids(said));
});

test("control: on a disk that is well all of it is acknowledged", { timeout }, async () => {
  const { server, outcomes } = await talkOneByOne([]);
  expect(outcomes).toEqual(all("ack"));
  expect(await readiness(server)).toBe(200);
});

test("control: a log that does not wait for the disk would acknowledge on", { timeout }, async () => {
  const { server, outcomes } = await talkOneByOne(tracer, "OFF");
  expect(outcomes).toEqual(all("ack"));
  expect(await readiness(server)).toBe(200);
});
