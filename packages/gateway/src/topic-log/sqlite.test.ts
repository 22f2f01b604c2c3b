import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { openDatabase } from "@mcpx/host";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { appendMany, newEntry, topicLogCases } from "./cases.ts";
import { topicLogStore } from "./schema.ts";
import { createSqliteTopicLog, type SqliteTopicLogOptions } from "./sqlite.ts";
import type { TopicLog } from "./topic-log.ts";

const dirs: string[] = [];

afterAll(() => {
  for (const dir of dirs) rmSync(dir, { recursive: true });
});

function newPath(): string {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-topic-log-"));
  dirs.push(dir);
  return join(dir, "topics.db");
}

async function open(options: SqliteTopicLogOptions): Promise<TopicLog> {
  const log = await createSqliteTopicLog(options);
  onTestFinished(() => log.close());
  return log;
}

const modeOf = (file: string) => statSync(file).mode & 0o777;
const walBytes = (path: string) => statSync(`${path}-wal`).size;
const outcomes = (results: PromiseSettledResult<unknown>[]) =>
  results.map((result) => (result.status === "fulfilled" ? "stored" : result.reason.code));

topicLogCases("the topic log on disk", async () => {
  const path = newPath();
  let log = await createSqliteTopicLog({ path });
  const reopen = async () => {
    await log.close();
    log = await createSqliteTopicLog({ path });
    return log;
  };
  return { log, reopen };
});

test("[B-DUR-1] a log that is opened again has its epoch, its entries and its place", async () => {
  const path = newPath();
  const before = await open({ path });
  await appendMany(before, 5);
  await before.createTopic("empty");
  await before.trim("room", { count: 0 }, 0);
  await before.close();
  const after = await open({ path });
  expect(after.epoch).toBe(before.epoch);
  expect(await after.bounds("room")).toEqual({ first: 6, last: 5 });
  expect(await after.append(newEntry({ id: "new", at: 1 }))).toEqual({
    outcome: "appended",
    seq: 6,
    at: 5_000,
  });
  expect((await after.topics()).map(({ name }) => name)).toEqual(["empty", "room"]);
});

test("each new store has an epoch of its own, fit for a resume parameter", async () => {
  const [one, two] = [await open({ path: newPath() }), await open({ path: newPath() })];
  expect(one.epoch).not.toBe(two.epoch);
  expect(one.epoch).toMatch(/^[0-9a-f]{16}$/);
});

test("nobody but the owner may read the store", async () => {
  const path = newPath();
  const log = await open({ path });
  await log.append(newEntry());
  expect([path, `${path}-wal`, `${path}-shm`].map(modeOf)).toEqual([0o600, 0o600, 0o600]);
});

test("a store from the future is refused, naming both versions", async () => {
  const path = newPath();
  await (await createSqliteTopicLog({ path })).close();
  using db = new DatabaseSync(path);
  db.exec("UPDATE schema_versions SET version = 7");
  await expect(createSqliteTopicLog({ path })).rejects.toThrow(/topics .*version 7 .*only up to 3/);
});

const many = Array.from({ length: 3_000 }, (_, index) => newEntry({ id: `e${index + 1}`, at: 1_000 }));
const again = (log: TopicLog, n: number) => log.append(newEntry({ id: `e${n}` }));

test("[X0-4-3] ids are known after a restart, in full blocks of them and past the last", async () => {
  const path = newPath();
  const before = await open({ path });
  await Promise.all(many.map((entry) => before.append(entry)));
  await before.trim("room", { count: 2_500 }, 0);
  await before.close();
  const after = await open({ path });
  for (const n of [501, 1_024, 1_025, 2_048, 2_049, 3_000]) {
    expect(await again(after, n)).toEqual({ outcome: "duplicate", seq: n, at: 1_000 });
    expect(await after.find("room", `e${n}`)).toMatchObject({ seq: n });
  }
  expect(await after.append(newEntry({ id: "e700", digest: "other" }))).toEqual({ outcome: "conflict" });
  expect(await after.find("room", "e500")).toBeUndefined();
  expect(await again(after, 500)).toMatchObject({ outcome: "appended", seq: 3_001 });
  await after.trim("room", { count: 1 }, 0);
  await after.close();
  using db = new DatabaseSync(path, { readOnly: true });
  expect(db.prepare("SELECT count(*) AS n FROM id_blocks").get()).toEqual({ n: 0 });
});

test("[X0-4-3] what another process has stored counts too", async () => {
  const path = newPath();
  const [one, two] = [await open({ path }), await open({ path })];
  await one.append(newEntry({ id: "e1", at: 1_000 }));
  expect(await again(two, 1)).toEqual({ outcome: "duplicate", seq: 1, at: 1_000 });
  await Promise.all(many.map((entry) => two.append(entry)));
  expect(await again(one, 3_000)).toEqual({ outcome: "duplicate", seq: 3_000, at: 1_000 });
  expect(await one.find("room", "e2000")).toMatchObject({ seq: 2_000 });
  expect(await again(one, 3_001)).toMatchObject({ outcome: "appended", seq: 3_001 });
  expect(await again(two, 3_001)).toMatchObject({ outcome: "duplicate", seq: 3_001 });
});

test("[X0-4-3] ids are found after a trim has passed what the reader knew", async () => {
  const log = await open({ path: newPath() });
  await Promise.all(many.slice(0, 1_000).map((entry) => log.append(entry)));
  expect(await log.find("room", "e1000")).toMatchObject({ seq: 1_000 });
  await Promise.all(many.slice(1_000).map((entry) => log.append(entry)));
  // In the middle of a block.
  await log.trim("room", { count: 1_500 }, 0);
  expect(await log.find("room", "e3000")).toMatchObject({ seq: 3_000 });
  expect(await log.find("room", "e1501")).toMatchObject({ seq: 1_501 });
  expect(await log.find("room", "e1500")).toBeUndefined();
});

test("[X0-4-3] a store of the first version is brought up to date, and knows its ids", async () => {
  const path = newPath();
  using old = openDatabase(path, { ...topicLogStore, migrations: topicLogStore.migrations.slice(0, 1) });
  old.exec("INSERT INTO topics VALUES (1, 'room', 3000, 1000)");
  const insert = old.prepare("INSERT INTO envelopes VALUES (1, ?, ?, 'ada', 1000, ?, ?)");
  old.exec("BEGIN");
  many.forEach(({ id, digest, text }, index) => {
    insert.run(index + 1, id, digest, text);
  });
  old.exec("COMMIT");
  old.close();
  const log = await open({ path });
  using db = new DatabaseSync(path, { readOnly: true });
  const blocks = () =>
    db
      .prepare("SELECT last FROM id_blocks")
      .all()
      .map(({ last }) => last);
  expect(blocks()).toEqual([1_024, 2_048]);
  expect(await log.find("room", "e9")).toMatchObject({ text: many[8]?.text, from: "ada", seq: 9 });
  expect(await again(log, 2_000)).toEqual({ outcome: "duplicate", seq: 2_000, at: 1_000 });
  await Promise.all(Array.from({ length: 100 }, (_, index) => again(log, 3_001 + index)));
  expect(blocks()).toEqual([1_024, 2_048, 3_072]);
});

test("a close leaves one file, with everything in it", async () => {
  const path = newPath();
  const log = await open({ path });
  await appendMany(log, 5);
  await log.close();
  expect(statSync(`${path}-wal`, { throwIfNoEntry: false })).toBeUndefined();
  using db = new DatabaseSync(path, { readOnly: true });
  expect(db.prepare("SELECT count(*) AS n FROM envelopes").get()).toEqual({ n: 5 });
});

test("a large trim lets appends through and removes all it should", async () => {
  const log = await open({ path: newPath(), tuning: { trimRows: 10 } });
  await appendMany(log, 200);
  const order: string[] = [];
  await Promise.all([
    log.trim("room", { count: 5 }, 0).then((removed) => order.push(`trimmed ${removed}`)),
    log.append(newEntry({ id: "meanwhile" })).then(() => order.push("appended")),
  ]);
  expect(order).toEqual(["appended", "trimmed 195"]);
  expect(await log.bounds("room")).toEqual({ first: 196, last: 201 });
});

test("appends past the memory they may take are told to come back", async () => {
  const log = await open({ path: newPath(), tuning: { waitingBytesMax: 10_000 } });
  const append = (id: string) => log.append(newEntry({ id, text: "x".repeat(1_000) }));
  const results = await Promise.allSettled(["a", "b", "c", "d", "e"].map(append));
  expect(outcomes(results)).toEqual(["stored", "stored", "stored", "rate_limited", "rate_limited"]);
  expect(results[3]).toMatchObject({ reason: { retryAfterMs: 100 } });
  expect(await append("e")).toMatchObject({ seq: 4 });
});

const long = (id: string) => newEntry({ id, text: "x".repeat(3_000) });

test("a thread of its own brings envelopes from the write-ahead log into the store", async () => {
  const path = newPath();
  const log = await open({ path, tuning: { checkpointBytes: 64 * 1_024 } });
  const bytes = statSync(path).size;
  for (let n = 0; statSync(path).size === bytes; n += 1) await log.append(long(`${n}`));
});

test("the write-ahead log begins anew at its bound, also where no checkpoint came in time", async () => {
  const path = newPath();
  const walBytesMax = 128 * 1_024;
  const log = await open({ path, tuning: { walBytesMax, checkpointBytes: 1_024 * walBytesMax } });
  let longest = 0;
  for (let n = 0; n < 60; n += 1) {
    await Promise.all([log.append(long(`a${n}`)), log.append(long(`b${n}`))]);
    longest = Math.max(longest, walBytes(path));
  }
  expect(longest).toBeLessThan(1.5 * walBytesMax);
  expect(await log.bounds("room")).toEqual({ first: 1, last: 120 });
});

test("while another process reads, the write-ahead log grows; afterwards it begins anew", async () => {
  const path = newPath();
  const walBytesMax = 64 * 1_024;
  const log = await open({ path, tuning: { walBytesMax, checkpointBytes: walBytesMax } });
  await log.append(newEntry());
  using reader = new DatabaseSync(path, { readOnly: true });
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM envelopes").get();
  for (let n = 0; n < 50; n += 1) await log.append(long(`held${n}`));
  const grown = walBytes(path);
  expect(grown).toBeGreaterThan(3 * walBytesMax);
  reader.exec("COMMIT");
  for (let n = 0; walBytes(path) >= grown; n += 1) await log.append(long(`free${n}`));
  expect(walBytes(path)).toBeLessThan(walBytesMax);
});

test("a full disk refuses what finds no room, and takes more once there is some", async () => {
  const failures: Error[] = [];
  const log = await open({
    path: newPath(),
    onFailure: (error) => failures.push(error),
    tuning: { pagesMax: 40 },
  });
  const results: string[] = [];
  for (let n = 0; results.at(-1) !== "storage_full"; n += 1) {
    results.push(...outcomes(await Promise.allSettled([log.append(long(`${n}`))])));
  }
  const stored = results.length - 1;
  const batch = [long("never"), long("neither")].map((entry) => log.append(entry));
  expect(outcomes(await Promise.allSettled(batch))).toEqual(["storage_full", "storage_full"]);
  expect(await log.bounds("room")).toEqual({ first: 1, last: stored });

  await log.trim("room", { count: 1 }, 0);
  expect(await log.append(long("never"))).toMatchObject({ outcome: "appended", seq: stored + 1 });
  expect(failures).toEqual([]);
});

test("a store another process holds for long is no failure", async () => {
  const path = newPath();
  const failures: Error[] = [];
  const log = await open({ path, onFailure: (error) => failures.push(error), tuning: { busyTimeoutMs: 1 } });
  using other = new DatabaseSync(path);
  other.exec("BEGIN IMMEDIATE");
  await expect(log.append(newEntry())).rejects.toMatchObject({ code: "rate_limited", retryAfterMs: 1_000 });
  other.exec("COMMIT");
  expect(await log.append(newEntry())).toMatchObject({ outcome: "appended", seq: 1 });
  expect(failures).toEqual([]);
});

test("a store that is damaged stops the log for good, and says so once", async () => {
  const path = newPath();
  const failures: Error[] = [];
  const log = await open({ path, onFailure: (error) => failures.push(error) });
  await log.append(newEntry());
  using other = new DatabaseSync(path);
  other.exec("ALTER TABLE envelopes RENAME TO elsewhere");
  const both = [log.append(newEntry({ id: "e2" })), log.createTopic("new")];
  expect(outcomes(await Promise.allSettled(both))).toEqual(["storage_failed", "storage_failed"]);
  other.exec("ALTER TABLE elsewhere RENAME TO envelopes");
  await expect(log.append(newEntry({ id: "e3" }))).rejects.toMatchObject({ code: "storage_failed" });
  await expect(log.trim("room", { count: 0 }, 0)).rejects.toMatchObject({ code: "storage_failed" });
  expect(failures.map(String)).toEqual([expect.stringContaining("no such table")]);
  expect(await log.bounds("room")).toEqual({ first: 1, last: 1 });
});

test("text for strangers says nothing about the store", async () => {
  const path = newPath();
  const log = await open({ path });
  using other = new DatabaseSync(path);
  other.exec("DROP TABLE envelopes");
  const errors = [log.append(newEntry()), log.bounds("room")].map((each) =>
    each.catch((error) => error.message),
  );
  for (const message of await Promise.all(errors)) expect(message).not.toMatch(/envelopes|SQL|topics\.db/);
});

test("a time that is no whole number is the caller's fault and stops nothing", async () => {
  const log = await open({ path: newPath() });
  await expect(log.append(newEntry({ at: 1.5 }))).rejects.toThrow(RangeError);
  expect(await log.append(newEntry())).toMatchObject({ seq: 1 });
});

/** A process of its own that appends to two topics until it is ended, telling each acknowledgement. */
function startAppender(path: string, command: (node: string) => [string, string[]]) {
  const script = `
    import { createSqliteTopicLog } from ${JSON.stringify(new URL("./sqlite.ts", import.meta.url).href)};
    const onFailure = () => console.log("failed");
    const log = await createSqliteTopicLog({ path: ${JSON.stringify(path)}, onFailure });
    const append = (topic, id) =>
      log.append({ topic, id, from: "ada", at: Date.now(), digest: "d", text: "x".repeat(2000) });
    const talk = async (topic, sender) => {
      for (let n = 1; ; n += 1) {
        const { seq } = await append(topic, sender + n);
        console.log(topic, sender + n, seq);
      }
    };
    const talks = ["a", "b", "c", "d"].map((sender, index) => talk("room" + (index % 2), sender));
    await Promise.allSettled(talks.map((each) => each.catch((error) => console.log(error.code))));
    await append("room0", "late").catch((error) => console.log("later", error.code));
    await log.close();
  `;
  const [file, args] = command(process.execPath);
  const options = ["--conditions=mcpx-source", "--no-warnings", "--input-type=module", "--eval", script];
  return spawn(file, [...args, ...options], { stdio: ["ignore", "pipe", "inherit"] });
}

async function expectAcknowledged(path: string, lines: string[]): Promise<void> {
  const log = await open({ path });
  for (const line of lines) {
    const [topic = "", id = "", seq] = line.split(" ");
    expect(await log.find(topic, id)).toMatchObject({ seq: Number(seq) });
  }
  for (const topic of ["room0", "room1"]) {
    const { first, last } = await log.bounds(topic);
    const entries = await log.read(topic, { limit: last + 1, order: "oldest_first" });
    expect(first).toBe(1);
    expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: last }, (_, index) => index + 1));
  }
}

test("[B-DUR-1] whatever was acknowledged is there after kill -9", { timeout: 20_000 }, async () => {
  const path = newPath();
  const child = startAppender(path, (node) => [node, []]);
  let seen = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) {
    seen += chunk;
    if (seen.length > 20_000) child.kill("SIGKILL");
  }
  const lines = seen.split("\n").slice(0, -1);
  expect(lines.length).toBeGreaterThan(1_000);
  await expectAcknowledged(path, lines);
});

test("[B-DUR-1] after an I/O error nothing more is acknowledged", { timeout: 20_000 }, async () => {
  const path = newPath();
  // No file may grow past a MiB or two: writing further is an I/O error, not a full disk.
  const child = startAppender(path, (node) => ["sh", ["-c", 'ulimit -f 2048; exec "$0" "$@"', node]]);
  const lines = (await text(child.stdout)).trim().split("\n");
  const acknowledged = lines.filter((line) => line.startsWith("room"));
  const refused = lines.filter((line) => !line.startsWith("room"));
  expect(acknowledged.length).toBeGreaterThan(10);
  expect(refused.toSorted()).toEqual(["failed", "later storage_failed", ...Array(4).fill("storage_failed")]);
  expect(lines.slice(-refused.length)).toEqual(refused);
  await expectAcknowledged(path, acknowledged);
});
