// Three engines, of which one takes writes and the two others follow: the first is lost under load, and a script of ours
// promotes the standby that has most, as a cluster manager does.
import { expect, onTestFinished, test } from "vitest";
import { newEntry } from "../../packages/gateway/src/topic-log/cases.ts";
import { scale, timeout } from "../faults/support/soak.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { open, talk } from "./support/watched-log.ts";

type Trio = readonly [first: PostgresServer, second: PostgresServer, third: PostgresServer];

async function startTrio(): Promise<Trio> {
  const names = ["one", "two", "three"];
  const settings = (name: string) => ({
    cluster_name: name,
    synchronous_standby_names: `ANY 1 (${names.join(", ")})`,
    // An engine without a primary looks for it often.
    wal_retrieve_retry_interval: "100ms",
  });
  const first = await startPostgres(settings("one"));
  onTestFinished(() => first[Symbol.asyncDispose]());
  const [second, third] = [
    await startPostgres(settings("two"), {}, { follows: first }),
    await startPostgres(settings("three"), {}, { follows: first }),
  ];
  for (const one of [second, third]) onTestFinished(() => one[Symbol.asyncDispose]());
  await expect
    .poll(() => first.sql("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'quorum'"))
    .toHaveLength(2);
  return [first, second, third];
}

/** All of them, in this order: what a user writes down once. */
const addressOf = (trio: Trio) =>
  trio[0]
    .tcpUrl({ schema: "trio" })
    .replace(/@[^/]*/, `@${trio.map(({ port }) => `127.0.0.1:${port}`).join(",")}`);

async function received(standby: PostgresServer): Promise<number> {
  const [row] = await standby.sql("SELECT pg_last_wal_receive_lsn() - '0/0' AS bytes");
  return Number(row?.bytes);
}

/** The first is gone for good: the standby that has received most is promoted, and the other follows it. */
async function failOver([, second, third]: Trio): Promise<void> {
  const isSecond = (await received(second)) >= (await received(third));
  const [next, other] = isSecond ? [second, third] : [third, second];
  await next.sql("SELECT pg_promote(true, 60)");
  const conninfo = `host=${next.directory} port=${next.port} user=mcpx`;
  await other.sql(`ALTER SYSTEM SET primary_conninfo = '${conninfo}'`);
  await other.sql("SELECT pg_reload_conf()");
}

test.for(Array.from({ length: scale(1, 5) }, (_, round) => round))(
  "[B-DUR-1] of three engines the first is killed under load: what was acknowledged is at the next, and the log goes on there by itself (%i)",
  { timeout },
  async () => {
    const trio = await startTrio();
    const { log, told, failures } = await open({ url: addressOf(trio) });
    const { acknowledged, ended } = talk(log);
    await expect.poll(() => acknowledged.length).toBeGreaterThan(300);
    await trio[0].kill();
    await ended;
    await failOver(trio);
    await expect.poll(() => told.at(-1), { timeout: 60_000 }).toBe("back");
    for (const { id, seq } of acknowledged) expect(await log.find("room", id)).toMatchObject({ seq });
    // It waits for the standby that is left.
    const { last } = await log.bounds("room");
    expect(await log.append(newEntry({ id: "after" }))).toMatchObject({ outcome: "appended", seq: last + 1 });
    const entries = await log.read("room", { limit: last + 1, order: "oldest_first" });
    expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: last + 1 }, (_, n) => n + 1));
    expect(failures).toEqual([]);
  },
);

test("control: where commits wait for no standby (synchronous_commit local), a failover loses what was acknowledged", {
  timeout,
}, async () => {
  const trio = await startTrio();
  await trio[0].sql("ALTER ROLE mcpx SET synchronous_commit = local");
  const { log, told } = await open({ url: addressOf(trio) });
  await log.append(newEntry({ id: "before" }));
  const sent = "SELECT 1 FROM pg_stat_replication WHERE flush_lsn = pg_current_wal_flush_lsn()";
  await expect.poll(() => trio[0].sql(sent)).toHaveLength(2);
  // Nothing leaves the first any more.
  const senders = await trio[0].sql("SELECT pid FROM pg_stat_replication");
  for (const { pid } of senders) process.kill(Number(pid), "SIGSTOP");
  const acknowledged = await log.append(newEntry({ id: "lost" }));
  expect(acknowledged).toMatchObject({ outcome: "appended" });
  await trio[0].kill();
  await failOver(trio);
  await expect.poll(() => told.at(-1), { timeout: 60_000 }).toBe("back");
  expect([await log.find("room", "before"), await log.find("room", "lost")]).toEqual([
    expect.objectContaining({ seq: 1 }),
    undefined,
  ]);
});
