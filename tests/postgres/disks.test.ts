// What is left of an engine whose disk loses its power, or is full.
import { execFileSync } from "node:child_process";
import { chmodSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { newEntry } from "../../packages/gateway/src/topic-log/cases.ts";
import { type Disk, mayMount, newDisk, newSmallDisk } from "../faults/support/disk.ts";
import { scale, timeout } from "../faults/support/soak.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { isBack, open, talk } from "./support/watched-log.ts";

/** A power cut leaves what commits have waited for, and nothing else. */
async function engineOnDisk(disk: Disk) {
  for (const path of [dirname(disk.path), disk.path]) chmodSync(path, 0o755);
  const engine = await startPostgres({ wal_writer_delay: "10s" }, {}, { parent: disk.path });
  onTestFinished(() => engine[Symbol.asyncDispose]());
  // `initdb` has left that to us.
  execFileSync("sync", ["-f", disk.path]);
  const losePower = async () => {
    await engine.kill(disk.cutPower);
    disk.mountAgain();
    await engine.start();
  };
  return { engine, losePower };
}

test.runIf(mayMount())(
  "[B-DUR-1] whatever was acknowledged is there after power cuts under the engine",
  {
    timeout,
  },
  async () => {
    const { engine, losePower } = await engineOnDisk(newDisk());
    const { log, told, failures } = await open({ url: engine.url("power") });
    const acknowledged: { id: string; seq: number }[] = [];
    for (let round = 0; round < scale(2, 20); round += 1) {
      const talking = talk(log, round);
      await expect.poll(() => talking.acknowledged.length).toBeGreaterThan(100);
      await losePower();
      await talking.ended;
      acknowledged.push(...talking.acknowledged);
      await expect.poll(() => isBack(told)).toBe(true);
      for (const { id, seq } of acknowledged) expect(await log.find("room", id)).toMatchObject({ seq });
    }
    const { last } = await log.bounds("room");
    const entries = await log.read("room", { limit: last, order: "oldest_first" });
    expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: last }, (_, n) => n + 1));
    expect(failures).toEqual([]);
  },
);

test.runIf(mayMount())(
  "control: a power cut loses what was committed with synchronous_commit off",
  {
    timeout,
  },
  async () => {
    const { engine, losePower } = await engineOnDisk(newDisk());
    const client = await engine.connect();
    await client.query("CREATE TABLE loose_rows (n integer)");
    await client.query("SET synchronous_commit = off");
    for (let n = 0; n < 100; n += 1) await client.query("INSERT INTO loose_rows VALUES ($1)", [n]);
    await losePower();
    const [row] = await engine.sql("SELECT count(*)::int AS kept FROM loose_rows");
    expect(row?.kept).toBeLessThan(100);
  },
);

test.runIf(mayMount())(
  "a disk that is full under the engine ends acknowledging; with room again all that was acknowledged is there",
  {
    timeout,
  },
  async () => {
    const disk = newSmallDisk("160m");
    chmodSync(disk, 0o755);
    const engine = await startPostgres({ min_wal_size: "32MB", max_wal_size: "32MB" }, {}, { parent: disk });
    onTestFinished(() => engine[Symbol.asyncDispose]());
    const { log, failures } = await open({ url: engine.url("full") });
    await log.append(newEntry({ id: "before" }));
    // What is left is soon used up.
    const ballast = join(disk, "ballast");
    const { bavail, bsize } = statfsSync(disk);
    writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - 4_000_000)));
    const text = "x".repeat(100_000);
    const acknowledged: { id: string; seq: number }[] = [];
    const refused: string[] = [];
    for (let n = 0; refused.length === 0; n += 1) {
      const appended = await log
        .append(newEntry({ id: `e${n}`, text }))
        .catch((error) => error.code as string);
      if (typeof appended === "string") refused.push(appended);
      else if (appended.outcome === "appended") acknowledged.push({ id: `e${n}`, seq: appended.seq });
    }
    expect(["storage_full", "storage_failed"]).toContain(refused[0]);
    rmSync(ballast);
    // Where it found no room for its own log, the engine has ended.
    await engine.stop();
    await engine.start();
    await expect
      .poll(() => log.append(newEntry({ id: "after" })).catch((error) => error.code), { timeout: 60_000 })
      .toMatchObject({ outcome: "appended" });
    for (const { id, seq } of acknowledged) expect(await log.find("room", id)).toMatchObject({ seq });
    expect(failures).toEqual([]);
  },
);
