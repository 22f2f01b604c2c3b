// What happens to the topic log when PostgreSQL goes away, hangs, is killed, or says less than the whole truth.
import { afterAll, expect, onTestFinished, test } from "vitest";
import { newEntry } from "../../packages/gateway/src/topic-log/cases.ts";
import { signalAnyway, startPostgres } from "../support/postgres-server.ts";
import { startDoorProxy } from "./support/door-proxy.ts";
import { isBack, type Options, open, talk } from "./support/watched-log.ts";

// The writer of the write-ahead log must not come to the help of those who did not wait for it.
const server = await startPostgres({ wal_writer_delay: "10s" });
afterAll(() => server[Symbol.asyncDispose]());

async function openThroughProxy(schema: string, tuning: Options["tuning"] = {}) {
  const proxy = await startDoorProxy(server.port);
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  return { proxy, ...(await open({ url: server.tcpUrl({ port: proxy.port, schema }), tuning })) };
}

/** Keeps every append to the topics of a schema waiting until it is called. */
async function holdHeads(schema: string): Promise<() => Promise<unknown>> {
  const holder = await server.connect();
  onTestFinished(() => holder.end());
  await holder.query(`BEGIN; SELECT 1 FROM ${schema}.topics FOR UPDATE`);
  return () => holder.query("COMMIT");
}

const waitingAppends = async (event: string) =>
  (
    await server.sql(
      "SELECT pid FROM pg_stat_activity WHERE application_name = 'mcpx' AND (wait_event = $1 OR wait_event_type = $1)",
      [event],
    )
  ).map(({ pid }) => pid);

test("a connection that is cut: what was under way is in doubt, the rest is refused, and it comes back by itself", async () => {
  const { log, proxy, told, failures } = await openThroughProxy("cut");
  await log.append(newEntry({ id: "before" }));
  const release = await holdHeads("cut");
  const inDoubt = log.append(newEntry({ id: "doubt" }));
  await expect.poll(() => waitingAppends("Lock")).toHaveLength(1);
  proxy.shut();
  await expect(inDoubt).rejects.toMatchObject({ code: "storage_failed" });
  await expect.poll(() => told.length).toBeGreaterThan(0);
  await expect(log.append(newEntry({ id: "lost" }))).rejects.toMatchObject({
    code: "rate_limited",
    retryAfterMs: 1_000,
  });
  await expect.poll(() => log.bounds("room").catch((error) => error.code)).toBe("rate_limited");

  proxy.open();
  await expect.poll(() => isBack(told)).toBe(true);
  // The server still works on what was under way: sent again, it stands behind its own first try.
  const again = log.append(newEntry({ id: "doubt" }));
  await expect.poll(() => waitingAppends("Lock")).toHaveLength(2);
  await release();
  expect(await again).toMatchObject({ outcome: "duplicate", seq: 2 });
  expect(await log.append(newEntry({ id: "after" }))).toMatchObject({ outcome: "appended", seq: 3 });
  expect(await log.find("room", "lost")).toBeUndefined();
  expect(told[0]).toMatch(/^lost: /);
  expect(failures).toEqual([]);
});

test("a connection that hangs half-open is given up after its time, and made anew", async () => {
  const { log, proxy, told } = await openThroughProxy("hangs", {
    answerTimeoutMs: 300,
    connectTimeoutMs: 300,
  });
  await log.append(newEntry({ id: "before" }));
  proxy.fallSilent();
  await expect(log.append(newEntry({ id: "silent" }))).rejects.toMatchObject({ code: "storage_failed" });
  await expect(log.append(newEntry({ id: "silent" }))).rejects.toMatchObject({ code: "rate_limited" });
  await expect.poll(() => told.some((line) => line.includes("no answer within 0.3 s"))).toBe(true);
  proxy.open();
  // The one that reads finds out when it is asked.
  await expect.poll(() => log.bounds("room").catch((error) => error.code)).toEqual({ first: 1, last: 1 });
  await expect.poll(() => isBack(told)).toBe(true);
  expect(await log.append(newEntry({ id: "silent" }))).toMatchObject({ outcome: "appended", seq: 2 });
});

test("a cancelled wait for a standby is no acknowledgement, and sending again waits again", async () => {
  const { log, told } = await open({ url: server.url("standby") });
  await log.append(newEntry({ id: "before" }));
  await server.set({ synchronous_standby_names: "absent" });
  onTestFinished(() => server.set({ synchronous_standby_names: "" }));
  const cancelled = log.append(newEntry({ id: "cancelled" }));
  await expect.poll(() => waitingAppends("SyncRep")).toHaveLength(1);
  const refused = expect(cancelled).rejects.toMatchObject({ code: "storage_failed" });
  await server.sql("SELECT pg_cancel_backend($1)", await waitingAppends("SyncRep"));
  await refused;
  // The trap: it is there for everybody to read, though no standby has it.
  expect(await log.find("room", "cancelled")).toMatchObject({ seq: 2 });

  let isDone = false;
  const again = log.append(newEntry({ id: "cancelled" })).finally(() => {
    isDone = true;
  });
  await expect.poll(() => waitingAppends("SyncRep")).toHaveLength(1);
  expect(isDone).toBe(false);
  await server.set({ synchronous_standby_names: "" });
  expect(await again).toMatchObject({ outcome: "duplicate", seq: 2 });
  expect(await log.append(newEntry({ id: "after" })), "control").toMatchObject({ seq: 3 });
  expect(told).toEqual([]);
});

test("durability that is turned off while it runs ends acknowledging, and turned on again lets it go on", async () => {
  const { log, failures } = await open({ url: server.url("loose") });
  expect(await log.append(newEntry({ id: "before" })), "control").toMatchObject({ seq: 1 });
  await server.set({ synchronous_commit: "off" });
  onTestFinished(() => server.set({ synchronous_commit: "on" }));
  await expect
    .poll(() => log.append(newEntry({ id: "loose" })).catch((error) => error.code))
    .toBe("storage_failed");
  await server.set({ synchronous_commit: "on" });
  await expect
    .poll(() => log.append(newEntry({ id: "loose" })).catch((error) => error.code))
    .toMatchObject({ seq: 2 });
  expect(failures).toEqual([]);
});

test("a primary that takes no more writes is left, and used again when it does", async () => {
  const { log, told } = await open({ url: server.url("demoted") });
  await log.append(newEntry({ id: "before" }));
  await server.set({ default_transaction_read_only: "on" });
  await expect
    .poll(() => log.append(newEntry({ id: "e2" })).catch((error) => error.code))
    .toBe("rate_limited");
  await expect.poll(() => told.some((line) => line.includes("default_transaction_read_only"))).toBe(true);
  await server.set({ default_transaction_read_only: "off" });
  await expect.poll(() => isBack(told)).toBe(true);
  expect(await log.append(newEntry({ id: "e2" }))).toMatchObject({ outcome: "appended", seq: 2 });
});

test("[B-DUR-1] whatever was acknowledged is there after kill -9 of the engine, and the log goes on by itself", async () => {
  const { log, told, failures } = await open({ url: server.url("killed") });
  const { acknowledged, ended } = talk(log);
  await expect.poll(() => acknowledged.length).toBeGreaterThan(200);
  await server.kill();
  await ended;
  await expect.poll(() => told[0]).toMatch(/^lost: /);
  await server.start();
  await expect.poll(() => isBack(told)).toBe(true);
  for (const { id, seq } of acknowledged) expect(await log.find("room", id)).toMatchObject({ seq });
  const { last } = await log.bounds("room");
  expect(await log.append(newEntry({ id: "after" }))).toMatchObject({ outcome: "appended", seq: last + 1 });
  const entries = await log.read("room", { limit: last + 2, order: "oldest_first" });
  expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: last + 1 }, (_, n) => n + 1));
  expect(failures).toEqual([]);
});

test("control: a kill loses what was committed with synchronous_commit off", async () => {
  const client = await server.connect();
  await client.query("CREATE TABLE loose_rows (n integer)");
  // Any other process that writes the log of the engine would write these rows, too.
  const others = await client.query(
    "SELECT pid FROM pg_stat_activity WHERE backend_type <> 'client backend'",
  );
  for (const { pid } of others.rows) signalAnyway(Number(pid), "SIGSTOP");
  await client.query("SET synchronous_commit = off");
  for (let n = 0; n < 100; n += 1) await client.query("INSERT INTO loose_rows VALUES ($1)", [n]);
  await server.kill();
  await server.start();
  const [row] = await server.sql("SELECT count(*)::int AS kept FROM loose_rows");
  expect(row?.kept).toBeLessThan(100);
});
