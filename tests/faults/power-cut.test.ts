// Acknowledged means durable: the power fails under load, and everything acknowledged is there again. A kill -9 alone
// cannot show it, because the kernel still has what the process wrote; it is what runs where nothing can be mounted.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TopicLogTuning } from "@mcpx/gateway";
import { expect, test, vi } from "vitest";
import { enterWith } from "../support/enter.ts";
import { type Disk, mayMount, newDirectory, newDisk } from "./support/disk.ts";
import { examine, type Findings, nothing, readTopic } from "./support/examine.ts";
import { Publisher } from "./support/publisher.ts";
import { type ServerProcess, startServerProcess } from "./support/server-process.ts";
import { scale, timeout } from "./support/soak.ts";
import { mintTokens } from "./support/tokens.ts";

const isStrong = mayMount();
const event = isStrong ? "a power cut" : "kill -9 (weaker: no power cut without root and mounts)";
const topic = "room:power";

function diskToLose(): Disk {
  if (isStrong) return newDisk();
  return { path: newDirectory(), cutPower: async () => undefined, mountAgain: () => undefined };
}

/**
 * Server and disk lose their power at once. The server is frozen first: the ioctl makes some fsyncs that are under
 * way succeed without having done anything, and a machine without power tells nobody of that.
 */
async function losePower(server: ServerProcess, disk: Disk): Promise<void> {
  server.freeze();
  await disk.cutPower();
  await server.kill();
}

async function publishersOn(dataDir: string): Promise<{ publishers: Publisher[]; token: string }> {
  const ids = ["ada", "bob", "cyd", "dan"];
  const tokens = await mintTokens(
    dataDir,
    ids.map((sub) => ({ sub, topics: [topic], level: "full" })),
  );
  const publishers = ids.map((id, index) => new Publisher({ id, topic, token: tokens[index] as string }));
  return { publishers, token: tokens[0] as string };
}

/** Some rounds of load, cut and restart on one disk; what is found after each. */
async function cutUnderLoad(rounds: number, topicLog: Partial<TopicLogTuning>): Promise<Findings[]> {
  const disk = diskToLose();
  const dataDir = join(disk.path, "data");
  const { publishers, token } = await publishersOn(dataDir);
  const acknowledged = () => publishers.flatMap(({ acks }) => acks);
  const options = { dataDir, topicLog };
  const findings: Findings[] = [];
  let server = await startServerProcess(options);
  for (let round = 0; round < rounds; round += 1) {
    const wanted = acknowledged().length + 100 + Math.floor(Math.random() * 400);
    await Promise.all(publishers.map((each) => each.connect(server.url)));
    await vi.waitUntil(() => acknowledged().length >= wanted, { timeout, interval: 1 });
    await losePower(server, disk);
    await Promise.all(publishers.map((each) => each.lost()));
    disk.mountAgain();
    server = await startServerProcess(options);
    findings.push(examine(await readTopic(server.url, token, topic), acknowledged()));
  }
  expect(new Set(acknowledged().map(({ epoch }) => epoch)).size, "epochs").toBe(1);
  expect(new Set(publishers.flatMap(({ refusals }) => refusals))).not.toContain("internal");
  return findings;
}

test(`[B-DUR-1] everything acknowledged survives ${event} under load`, { timeout }, async () => {
  const rounds = scale(3, 50);
  // So small that the power also fails while the write-ahead log is brought into the store and begun anew.
  const tuning = { checkpointBytes: 65_536, walBytesMax: 262_144 };
  expect(await cutUnderLoad(rounds, tuning)).toEqual(Array(rounds).fill(nothing));
});

test.runIf(isStrong)(
  "control: without an fsync for each commit the same finds losses",
  { timeout },
  async () => {
    const [found] = await cutUnderLoad(1, { synchronous: "NORMAL" });
    expect(found?.lost.length).toBeGreaterThan(0);
  },
);

test(`an admin's decision that was confirmed survives ${event}`, { timeout }, async () => {
  const disk = diskToLose();
  const dataDir = join(disk.path, "data");
  const [guest = "", admin = ""] = await mintTokens(dataDir, [
    { sub: "guest", topics: [topic], level: "full" },
    { sub: "admin", topics: ["**"], admin: true },
  ]);
  const server = await startServerProcess({ dataDir });
  await enterWith(server, guest, { topic });
  const demoted = await fetch(`${server.url}/admin/participants/guest/demote`, {
    method: "POST",
    headers: { authorization: `Bearer ${admin}` },
  });
  expect(demoted.status).toBe(200);
  const unsynced = join(disk.path, "unsynced");
  writeFileSync(unsynced, "control: what nobody made durable is gone");
  await losePower(server, disk);
  disk.mountAgain();
  expect(existsSync(unsynced)).toBe(!isStrong);
  const again = await startServerProcess({ dataDir });
  const { welcome } = await enterWith(again, guest, { topic });
  expect(welcome.payload.participant.privilege).toBe("restricted");
});
