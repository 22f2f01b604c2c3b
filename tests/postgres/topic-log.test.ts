// The topic log on a real PostgreSQL: the cases of every sibling, and what is PostgreSQL's own.
import { type Appended, createPostgresTopicLog, type NewEntry, type TopicLog } from "@mcpx/gateway";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { appendMany, newEntry, topicLogCases } from "../../packages/gateway/src/topic-log/cases.ts";
import { startPostgres } from "../support/postgres-server.ts";

const server = await startPostgres();
afterAll(() => server[Symbol.asyncDispose]());

topicLogCases("the topic log on PostgreSQL", async () => {
  const url = server.url();
  let log = await createPostgresTopicLog({ url });
  const reopen = async () => {
    await log.close();
    log = await createPostgresTopicLog({ url });
    return log;
  };
  return { log, reopen };
});

async function open(options: Partial<Parameters<typeof createPostgresTopicLog>[0]> = {}): Promise<TopicLog> {
  const log = await createPostgresTopicLog({ url: server.url(), ...options });
  onTestFinished(() => log.close());
  return log;
}

const outcomes = (results: PromiseSettledResult<unknown>[]) =>
  results.map((result) => (result.status === "fulfilled" ? "stored" : result.reason.code));
const seqsOf = async (log: TopicLog) =>
  (await log.read("room", { limit: 10_000, order: "oldest_first" })).map(({ seq }) => seq);

test("[B-DUR-1] a log that is opened again has its epoch, its entries and its place", async () => {
  const url = server.url();
  const before = await open({ url });
  await appendMany(before, 5);
  await before.createTopic("empty");
  await before.trim("room", { count: 0 }, 0);
  await before.close();
  const after = await open({ url });
  expect(after.epoch).toBe(before.epoch);
  expect(after.epoch).toMatch(/^[0-9a-f]{16}$/);
  expect((await open()).epoch).not.toBe(after.epoch);
  expect(await after.bounds("room")).toEqual({ first: 6, last: 5 });
  expect(await after.append(newEntry({ id: "new", at: 1 }))).toEqual({
    outcome: "appended",
    seq: 6,
    at: 5_000,
  });
  expect((await after.topics()).map(({ name }) => name)).toEqual(["empty", "room"]);
});

test("[X0-4-3] two that write to one topic never give a seq twice, and each knows the ids of the other", async () => {
  const url = server.url();
  const logs = [await open({ url }), await open({ url })];
  for (const log of logs) log.prepare("room");
  const entries = Array.from({ length: 300 }, (_, n) => newEntry({ id: `e${n}`, at: 1_000 }));
  // Both send all of them, in small groups, so that each often finds the head moved by the other.
  const append = async (log: TopicLog, entry: NewEntry): Promise<Appended> =>
    log.append(entry).catch((error) => {
      // Too many moved it: nothing was stored, and it is sent again.
      if (error.code !== "rate_limited") throw error;
      return append(log, entry);
    });
  const sent = logs.map(async (log) => {
    const seqs: number[] = [];
    for (let at = 0; at < entries.length; at += 5) {
      const group = await Promise.all(entries.slice(at, at + 5).map((entry) => append(log, entry)));
      seqs.push(...group.map((one) => ("seq" in one ? one.seq : 0)));
    }
    return seqs;
  });
  const [one, two] = await Promise.all(sent);
  expect(one).toEqual(two);
  expect(one?.toSorted((a, b) => a - b)).toEqual(entries.map((_, n) => n + 1));
  expect(await seqsOf(logs[0] as TopicLog)).toEqual(entries.map((_, n) => n + 1));
});

test("[B-RESUME-1] no seq is given again by one who knew an earlier end, also where nothing is left to stumble over", async () => {
  const url = server.url();
  const [stale, busy] = [await open({ url }), await open({ url })];
  await stale.append(newEntry({ id: "kept" }));
  await Promise.all(["a", "b", "c"].map((id) => busy.append(newEntry({ id, at: 9_000 }))));
  await busy.trim("room", { count: 0 }, 0);
  expect(await stale.append(newEntry({ id: "late" }))).toEqual({ outcome: "appended", seq: 5, at: 9_000 });
  expect(await busy.append(newEntry({ id: "last" }))).toMatchObject({ seq: 6 });
});

test("one entry given twice at once is appended once", async () => {
  const log = await open();
  const entry = newEntry();
  expect(await Promise.all([log.append(entry), log.append(entry)])).toEqual([
    { outcome: "appended", seq: 1, at: 1_000 },
    { outcome: "duplicate", seq: 1, at: 1_000 },
  ]);
});

test("a trim that holds its topic makes no append wait; control: one who holds the head does", async () => {
  const url = server.url("held");
  const log = await open({ url, tuning: { trimRows: 10 } });
  await appendMany(log, 200);
  const holder = await server.connect();
  onTestFinished(() => holder.end());
  await holder.query(
    "BEGIN; DELETE FROM held.envelopes WHERE seq <= 10; UPDATE held.topic_firsts SET first = 11",
  );
  expect(await log.append(newEntry({ id: "meanwhile" }))).toMatchObject({ seq: 201 });
  await holder.query("ROLLBACK; BEGIN; SELECT 1 FROM held.topics FOR UPDATE");
  const order: string[] = [];
  const waited = log.append(newEntry({ id: "waits" })).then(() => order.push("appended"));
  await expect
    .poll(async () => (await server.sql("SELECT 1 FROM pg_locks WHERE NOT granted")).length)
    .toBeGreaterThan(0);
  order.push("released");
  await holder.query("COMMIT");
  await waited;
  expect(order).toEqual(["released", "appended"]);
  expect(await log.trim("room", { count: 5 }, 0)).toBe(197);
  expect(await log.bounds("room")).toEqual({ first: 198, last: 202 });
});

test("appends past the memory they may take are told to come back", async () => {
  const log = await open({ tuning: { waitingBytesMax: 10_000 } });
  const append = (id: string) => log.append(newEntry({ id, text: "x".repeat(1_000) }));
  const results = await Promise.allSettled(["a", "b", "c", "d", "e"].map(append));
  expect(outcomes(results)).toEqual(["stored", "stored", "stored", "rate_limited", "rate_limited"]);
  expect(await append("e")).toMatchObject({ seq: 4 });
});

test("what PostgreSQL cannot hold is the caller's fault and stops nothing", async () => {
  const log = await open();
  await expect(log.append(newEntry({ at: 1.5 }))).rejects.toThrow(RangeError);
  await expect(log.append(newEntry({ text: "a\0b" }))).rejects.toThrow(/NUL/);
  expect(await log.append(newEntry())).toMatchObject({ seq: 1 });
});

test("a full disk refuses what finds no room, and takes more once there is some", async () => {
  const failures: Error[] = [];
  const log = await open({ url: server.url("fills"), onFailure: (error) => failures.push(error) });
  await log.append(newEntry());
  // The server's own code for it, raised where it would be.
  await server.sql(`
    CREATE FUNCTION fills.no_room() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
    CREATE TRIGGER no_room BEFORE INSERT ON fills.envelopes EXECUTE FUNCTION fills.no_room();
  `);
  const batch = ["e2", "e3"].map((id) => log.append(newEntry({ id })));
  expect(outcomes(await Promise.allSettled(batch))).toEqual(["storage_full", "storage_full"]);
  expect(await log.bounds("room")).toEqual({ first: 1, last: 1 });
  await server.sql("DROP TRIGGER no_room ON fills.envelopes");
  expect(await log.append(newEntry({ id: "e2" }))).toMatchObject({ outcome: "appended", seq: 2 });
  expect(failures).toEqual([]);
});

test("a store that is damaged stops the log for good, says so once, and tells strangers nothing", async () => {
  const failures: Error[] = [];
  const log = await open({ url: server.url("damaged"), onFailure: (error) => failures.push(error) });
  await log.append(newEntry());
  await server.sql("ALTER TABLE damaged.envelopes RENAME TO elsewhere");
  const both = await Promise.allSettled([
    log.append(newEntry({ id: "e2" })),
    log.append(newEntry({ id: "e3" })),
  ]);
  expect(outcomes(both)).toEqual(["storage_failed", "storage_failed"]);
  for (const result of both) {
    expect(result).toMatchObject({ reason: { message: expect.not.stringMatching(/envelopes|SQL|damaged/) } });
  }
  await server.sql("ALTER TABLE damaged.elsewhere RENAME TO envelopes");
  await expect(log.append(newEntry({ id: "e4" }))).rejects.toMatchObject({ code: "storage_failed" });
  await expect(log.trim("room", { count: 0 }, 0)).rejects.toMatchObject({ code: "storage_failed" });
  expect(failures.map(String)).toEqual([expect.stringContaining("does not exist")]);
  expect(await log.bounds("room")).toEqual({ first: 1, last: 1 });
});

test("one page out of many is read by the index, also right after a trim", async () => {
  const log = await open({ url: server.url("many") });
  await Promise.all(Array.from({ length: 5_000 }, (_, n) => log.append(newEntry({ id: `e${n}`, at: n }))));
  await log.trim("room", { count: 1_000 }, 0);
  await server.sql("ANALYZE many.envelopes");
  const plan = await server.sql(`
    EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT seq FROM many.envelopes WHERE topic = 1
    AND seq > greatest(0, (SELECT first - 1 FROM many.topic_firsts WHERE topic = 1)) ORDER BY seq LIMIT 32`);
  expect(JSON.stringify(plan)).toMatch(/"Index (Only )?Scan"/);
  expect(JSON.stringify(plan)).not.toContain('"Sort"');
  expect(await log.size("room")).toBe(
    (await log.read("room", { limit: 5_000, order: "oldest_first" })).reduce(
      (sum, { text }) => sum + text.length + 256,
      0,
    ),
  );
});
