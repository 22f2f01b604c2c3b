// Ten times too much under a memory limit: what is too much is refused, the rest is served, and nothing runs over.
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { TestClient } from "../support/test-client.ts";
import { startChildServer } from "./support/child-server.ts";
import { peakBytes } from "./support/peak-memory.ts";

const mebibyte = 1_048_576;
const memoryMax = 512 * mebibyte;
const shouters = 10;
const seconds = process.env.MCPX_SOAK === "1" ? 60 : 4;

/** Puts the process under a real limit where we may; returns how to take it away once the process is gone. */
function limitMemory(pid: number): () => void {
  const parents = [
    { dir: "/sys/fs/cgroup/memory", max: "memory.limit_in_bytes" },
    { dir: "/sys/fs/cgroup", max: "memory.max" },
  ];
  const parent = parents.find(
    ({ dir, max }) =>
      existsSync(`${dir}/cgroup.procs`) && (max !== "memory.max" || existsSync(`${dir}/cgroup.controllers`)),
  );
  if (parent === undefined || process.getuid?.() !== 0) return () => {};
  const group = `${parent.dir}/mcpx-test-${pid}`;
  mkdirSync(group);
  writeFileSync(`${group}/${parent.max}`, String(memoryMax));
  writeFileSync(`${group}/cgroup.procs`, String(pid));
  return () => rmdirSync(group);
}

test("[X0-9-4] [X0-9-5] ten times the allowed load stays within 512 MiB, and a quiet participant is served throughout", {
  timeout: 180_000,
}, async () => {
  const server = await startChildServer({
    limits: { envelopesPerSecondFull: 50, faultsPerMinute: 1_000_000 },
  });
  const endLimit = limitMemory(server.pid);
  const join = async (id: string) => {
    const [token] = await server.tokens("mill", [id]);
    return TestClient.connect(server.url, token, { topic: "mill" });
  };
  const loud = await Promise.all(Array.from({ length: shouters }, (_, i) => join(`loud-${i}`)));
  const quiet = await join("quiet");
  const until = Date.now() + seconds * 1_000;
  const answered = { acks: 0, refusals: 0 };
  const shouting = loud.map(async ({ ws }) => {
    // Counted, not read: it is the server that is measured.
    ws.removeAllListeners("message");
    ws.on("message", (data: Buffer) => {
      if (data.includes('"event":"ack"')) answered.acks += 1;
      else if (data.includes('"rate_limited"')) answered.refusals += 1;
    });
    while (Date.now() < until) {
      for (let i = 0; i < 25; i += 1) {
        ws.send(
          JSON.stringify({
            protocol: "mcpx/v0.1",
            id: randomUUID(),
            kind: "chat",
            payload: { text: "x".repeat(200) },
          }),
        );
      }
      // 500 a second each, where 50 are allowed.
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
  let served = 0;
  while (Date.now() < until) {
    await quiet.ack(quiet.say("one of mine"));
    served += 1;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await Promise.all(shouting);

  expect(served).toBeGreaterThan(seconds);
  // Useful work went on: what is allowed got through, what is too much was told so.
  expect(answered.acks).toBeGreaterThan(shouters * 50 * seconds * 0.7);
  expect(answered.refusals).toBeGreaterThan(answered.acks);
  expect(peakBytes(server.pid)).toBeLessThan(memoryMax);
  for (const client of loud) expect(client.closed).toBeUndefined();
  await server.kill();
  endLimit();
});

test("control: with the rate limit off, far more gets through", { timeout: 180_000 }, async () => {
  const server = await startChildServer({ limits: { envelopesPerSecondFull: 1_000_000 } });
  const [token] = await server.tokens("mill", ["loud"]);
  const client = await TestClient.connect(server.url, token, { topic: "mill" });
  const ids = Array.from({ length: 500 }, () => client.say("x"));
  for (const id of ids) await client.ack(id);
});
