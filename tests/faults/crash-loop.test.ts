// kill -9, again and again under load: with the same ids sent again, everything is there exactly once and in order.
import { join } from "node:path";
import { createSqliteTopicLog } from "@mcpx/gateway";
import { expect, test, vi } from "vitest";
import { newDirectory } from "./support/disk.ts";
import { examine, type Findings, nothing, readTopic } from "./support/examine.ts";
import { Publisher, type PublisherOptions } from "./support/publisher.ts";
import { type ServerProcess, startServerProcess } from "./support/server-process.ts";
import { scale, timeout } from "./support/soak.ts";
import { mintTokens } from "./support/tokens.ts";

const topic = "room:crash";
const ids = ["ada", "bob", "cyd", "dan"];
const readyMsMax = 2_000;

interface Crashes {
  /** After everything said was acknowledged. */
  findings: Findings;
  acks: number;
  kept: number;
  starts: ServerProcess[];
}

/** Rounds of load and kill -9, as long as `isEnough` does not say so; then all is sent until it is acknowledged. */
async function crash(
  dataDir: string,
  resendWith: PublisherOptions["resendWith"] & string,
  isEnough: (round: number, findings: () => Promise<Findings>) => Promise<boolean>,
): Promise<Crashes> {
  const claims = ids.map((sub) => ({ sub, topics: [topic], level: "full" }) as const);
  const tokens = await mintTokens(dataDir, claims);
  const publishers = ids.map((id, n) => new Publisher({ id, topic, token: tokens[n] as string, resendWith }));
  const acknowledged = () => publishers.flatMap(({ acks }) => acks);
  let server = await startServerProcess({ dataDir });
  const starts = [server];
  const kept = () => readTopic(server.url, tokens[0] as string, topic);
  const findings = async () => examine(await kept(), acknowledged());
  for (let round = 1; !(await isEnough(round, findings)); round += 1) {
    const wanted = acknowledged().length + 50 + Math.floor(Math.random() * 300);
    await Promise.all(publishers.map((each) => each.connect(server.url)));
    await vi.waitUntil(() => acknowledged().length >= wanted, { timeout, interval: 1 });
    await server.kill();
    await Promise.all(publishers.map((each) => each.lost()));
    server = await startServerProcess({ dataDir });
    starts.push(server);
  }
  await Promise.all(publishers.map((each) => each.connect(server.url)));
  await Promise.all(publishers.map((each) => each.finish()));
  const acks = acknowledged().length;
  return { findings: await findings(), acks, kept: (await kept()).length, starts };
}

/** What the server has to cope with when it starts. */
async function fillLog(dataDir: string, count: number): Promise<void> {
  const log = await createSqliteTopicLog({
    path: join(dataDir, "topics.db"),
    tuning: { synchronous: "OFF" },
  });
  const text = JSON.stringify({ protocol: "mcpx/v0.1", kind: "chat", payload: { text: "x".repeat(150) } });
  for (let done = 0; done < count; ) {
    const chunk = Array.from({ length: 5_000 }, () => {
      done += 1;
      return log.append({ topic: "room:old", id: `old-${done}`, from: "eve", at: done, digest: "d", text });
    });
    await Promise.all(chunk);
  }
  await log.close();
}

test("[B-DUR-1] [X0-4-3] through kill -9 in a loop each envelope is kept once and in order", {
  timeout,
}, async () => {
  const empty = await startServerProcess({ dataDir: newDirectory() });
  await empty.kill();
  const dataDir = newDirectory();
  await fillLog(dataDir, scale(100_000, 1_000_000));
  const rounds = scale(5, 100);
  const { findings, acks, kept, starts } = await crash(dataDir, "same ids", async (round) => round > rounds);
  expect(findings).toEqual(nothing);
  expect(kept).toBe(acks);
  expect(acks).toBeGreaterThan(rounds * 50);
  // A busy machine makes a single start late; it does not make it work more.
  expect(Math.max(...starts.map(({ cpuMs }) => cpuMs))).toBeLessThan(readyMsMax);
  const median = starts.map(({ readyMs }) => readyMs).toSorted((a, b) => a - b)[rounds >> 1];
  expect(median).toBeLessThan(Math.max(readyMsMax, 2 * empty.readyMs));
});

test("control: sent again with new ids the same finds doubles", { timeout }, async () => {
  const hasDoubles = async (round: number, findings: () => Promise<Findings>) =>
    round > 50 || (round > 1 && (await findings()).doubled.length > 0);
  const { findings } = await crash(newDirectory(), "new ids", hasDoubles);
  expect(findings.doubled.length).toBeGreaterThan(0);
});
