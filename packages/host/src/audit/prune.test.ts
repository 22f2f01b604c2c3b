import { expect, onTestFinished, test } from "vitest";
import { createManualClock } from "../clock.ts";
import { createLogger } from "../logging/log.ts";
import { openState } from "../sqlite/state.ts";
import { createAudit } from "./audit.ts";
import { createSqliteAuditStore } from "./store-sqlite.ts";

const retention = { recordsMax: 500, keepMs: 100_000_000 };

function open(more: Partial<typeof retention> = {}) {
  const db = openState(":memory:");
  const clock = createManualClock();
  const log = createLogger({ level: "silent" });
  const audit = createAudit({
    store: createSqliteAuditStore(db),
    clock,
    log,
    retention: { ...retention, ...more },
  });
  onTestFinished(() => db.close());
  const write = async (count: number) => {
    for (let i = 0; i < count; i += 1) audit.record({ action: "call", actor: `a${i}` });
    await audit.flush();
    // Looked at again.
    clock.advance(10_000);
    audit.record({ action: "tick" });
    await audit.flush();
  };
  const rows = () => Number(db.prepare("SELECT count(*) AS n FROM audit").get()?.n);
  return { db, clock, audit, write, rows };
}

test("the oldest of too many go, the chain is whole, and says itself what was pruned", async () => {
  const { audit, write, rows, db } = open();
  await write(400);
  const before = await audit.verify();
  expect(before).toMatchObject({ ok: true, records: 401 });
  expect(before).not.toHaveProperty("pruned");
  for (let i = 0; i < 20; i += 1) await write(400);
  expect(rows()).toBeLessThan(1_000);
  const verdict = await audit.verify();
  expect(verdict).toMatchObject({ ok: true, records: rows() });
  if (!verdict.ok || verdict.pruned === undefined) throw new Error("nothing was pruned");
  const { to, hash } = verdict.pruned;
  expect((await audit.list({ limit: 1, action: "audit.prune" }))[0]?.detail).toEqual({ to, hash });
  const { rows: page, pruned } = await audit.page({ after: 0, limit: 1 });
  expect([page[0]?.seq, pruned?.to]).toEqual([to + 1, to]);
  // Numbers go on: none is given twice.
  expect((await audit.page({ after: 0, limit: 1 })).head.seq).toBe(to + verdict.records);
  expect(db.prepare("SELECT min(seq) AS first FROM audit").get()?.first).toBe(to + 1);
});

test("records go by age too, and none before its time", async () => {
  const { audit, write, clock, rows } = open({ recordsMax: 1_000_000, keepMs: 50_000 });
  await write(300);
  expect(rows()).toBe(301);
  clock.advance(60_000);
  await write(10);
  await write(10);
  expect(rows()).toBeLessThan(40);
  expect(await audit.verify()).toMatchObject({ ok: true, pruned: { to: 301 } });
});

test("who cuts the beginning off and calls it pruned is found, and so is a wrong checkpoint", async () => {
  const { audit, db, write } = open({ recordsMax: 1_000_000 });
  await write(300);
  const { hash } = db.prepare("SELECT hash FROM audit WHERE seq = 100").get() as { hash: string };
  db.exec("DELETE FROM audit WHERE seq <= 100");
  expect(await audit.verify()).toEqual({ ok: false, at: 1 });
  const put = (value: object) =>
    db
      .prepare("INSERT OR REPLACE INTO host_settings (name, value) VALUES ('audit_pruned', ?)")
      .run(JSON.stringify(value));
  put({ to: 100, hash, at: 1 });
  expect(await audit.verify()).toEqual({ ok: false, at: 101 });
  // The same with the record that pruning makes holds: it is part of the chain.
  await audit.recordNow({ action: "audit.prune", detail: { to: 100, hash } });
  expect(await audit.verify()).toMatchObject({ ok: true, pruned: { to: 100 } });
  put({ to: 99, hash, at: 1 });
  expect(await audit.verify()).toMatchObject({ ok: false });
});
