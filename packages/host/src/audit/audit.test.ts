import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createManualClock } from "../clock.ts";
import { createLogger } from "../logging/log.ts";
import { createMetrics } from "../logging/metrics.ts";
import { openState } from "../sqlite/state.ts";
import { createAudit } from "./audit.ts";
import { auditStoreCases } from "./store-cases.ts";
import { createSqliteAuditStore } from "./store-sqlite.ts";

let folder: string;
let path: string;
let db: DatabaseSync;
const clock = createManualClock();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "mcpx-audit-"));
  path = join(folder, "state.db");
  db = openState(path);
});

afterEach(() => {
  if (db.isOpen) db.close();
  rmSync(folder, { recursive: true });
});

function open(lines: string[] = []) {
  const log = createLogger({ level: "error", destination: { write: (line) => void lines.push(line) } });
  return createAudit({ store: createSqliteAuditStore(db), clock, log });
}

/** Another connection to the same file, as another process would have. */
async function elsewhere<T>(work: (other: DatabaseSync) => T | Promise<T>): Promise<T> {
  const other = openState(path);
  try {
    return await work(other);
  } finally {
    other.close();
  }
}

test("records are listed newest first, with every field", async () => {
  const audit = open();
  audit.record({ action: "room.join", actor: "alice", topic: "demo" });
  clock.advance(5);
  audit.record({
    action: "participant.promote",
    actor: "root",
    subject: "alice",
    topic: "demo",
    detail: { level: "full" },
  });
  expect(await audit.list({ limit: 10 })).toEqual([
    {
      seq: 2,
      at: clock.now(),
      action: "participant.promote",
      actor: "root",
      subject: "alice",
      topic: "demo",
      detail: { level: "full" },
      count: 1,
      hash: expect.any(String),
    },
    {
      seq: 1,
      at: clock.now() - 5,
      action: "room.join",
      actor: "alice",
      topic: "demo",
      count: 1,
      hash: expect.any(String),
    },
  ]);
  await audit.close();
});

test("a list can be paged and filtered", async () => {
  const audit = open();
  for (let i = 0; i < 10; i += 1) {
    audit.record({ action: i % 2 === 0 ? "even" : "odd", actor: i < 5 ? "alice" : "bob" });
  }
  const seqs = (query: Parameters<typeof audit.list>[0]) =>
    audit.list(query).then((records) => records.map(({ seq }) => seq));
  expect(await seqs({ limit: 3 })).toEqual([10, 9, 8]);
  expect(await seqs({ limit: 3, before: 8 })).toEqual([7, 6, 5]);
  expect(await seqs({ limit: 10, action: "even", actor: "bob" })).toEqual([9, 7]);
});

test("others have their turn while a long chain is verified, searched and paged", async () => {
  const audit = open();
  for (let i = 0; i < 6_000; i += 1) {
    audit.record({ action: i === 10 ? "rare" : `a${i}`, actor: `alice ${i}` });
    if (i % 1_000 === 999) await audit.flush();
  }
  let turns = 0;
  let next: NodeJS.Immediate;
  const takeTurn = () => {
    turns += 1;
    next = setImmediate(takeTurn);
  };
  const turnsDuring = async (work: () => Promise<unknown>) => {
    turns = 0;
    next = setImmediate(takeTurn);
    await work();
    clearImmediate(next);
    return turns;
  };
  const { length: all } = await audit.list({ limit: 10_000 });
  const pieces = Math.floor(all / 500);
  expect(pieces).toBeGreaterThan(5);
  expect(await turnsDuring(() => audit.verify())).toBeGreaterThanOrEqual(pieces - 1);
  expect(await turnsDuring(() => audit.list({ limit: 5, action: "rare" }))).toBeGreaterThanOrEqual(
    pieces - 1,
  );
  const never = clock.now() + 1;
  expect(await turnsDuring(() => audit.page({ after: 0, limit: 5, since: never }))).toBeGreaterThanOrEqual(
    pieces - 1,
  );
  expect(await turnsDuring(() => audit.list({ limit: 5 })), "control").toBeLessThanOrEqual(1);
});

test("a chain that grows while it is verified verifies", async () => {
  const audit = open();
  await Promise.all(Array.from({ length: 1_200 }, (_, i) => audit.recordNow({ action: `a${i}` })));
  const verifying = audit.verify();
  for (let i = 0; i < 20; i += 1) {
    await new Promise(setImmediate);
    await audit.recordNow({ action: "meanwhile" });
  }
  expect(await verifying).toMatchObject({ ok: true });
});

test("what is recorded waits for its batch, what is recorded now does not", async () => {
  const audit = open();
  const stored = () => elsewhere((other) => other.prepare("SELECT action FROM audit ORDER BY seq").all());
  audit.record({ action: "first" });
  expect(await stored()).toEqual([]);
  expect(await audit.recordNow({ action: "token.revoke" })).toBe(true);
  expect(await stored()).toEqual([{ action: "first" }, { action: "token.revoke" }]);
});

test("a batch is written when it is full", async () => {
  const audit = open();
  for (let i = 0; i < 256; i += 1) audit.record({ action: "call", actor: `caller ${i}` });
  expect(await elsewhere((other) => other.prepare("SELECT count(*) AS n FROM audit").get())).toEqual({
    n: 256,
  });
  await audit.close();
});

test("of one actor's very many permissions those of one thing share a record; nobody else's do, nor what is grave", async () => {
  const audit = open();
  const call = { action: "tool.call", actor: "mallory", detail: { hash: "x" } };
  for (let i = 0; i < 5_000; i += 1) audit.record({ ...call, subject: `s.t${i % 2}` });
  audit.record({ ...call, actor: "alice", subject: "s.t" });
  for (const actor of ["mallory", "mallory"]) await audit.recordNow({ action: "gate.approve", actor });
  const records = await audit.list({ limit: 300 });
  const sum = (actor: string) =>
    records.filter((one) => one.actor === actor).reduce((n, { count }) => n + count, 0);
  expect(records.length).toBe(32 + 2 + 1 + 2);
  expect([sum("mallory"), sum("alice")]).toEqual([5_002, 1]);
  expect(records.filter(({ action }) => action === "gate.approve").map(({ count }) => count)).toEqual([1, 1]);
  expect(records.find(({ actor }) => actor === "alice")?.detail).toEqual({ hash: "x" });
  expect((await audit.verify()).ok).toBe(true);
  for (let i = 0; i < 5_000; i += 1) audit.record({ ...call, subject: `made-up-${i}` });
  expect((await audit.list({ limit: 1_000 })).length).toBe(records.length + 32 + 32 + 1);
});

test("identical refusals of one batch are one record with a count; a few permissions are not", async () => {
  const audit = open();
  const refusal = { action: "room.join", reason: "topic_forbidden", actor: "mallory", topic: "vault" };
  for (let i = 0; i < 1_000; i += 1) audit.record(refusal);
  audit.record({ ...refusal, topic: "other" });
  audit.record({ action: "room.join", actor: "alice" });
  audit.record({ action: "room.join", actor: "alice" });
  expect((await audit.list({ limit: 10 })).map(({ count, topic }) => [count, topic])).toEqual([
    [1, undefined],
    [1, undefined],
    [1, "other"],
    [1_000, "vault"],
  ]);
});

test.each(["topic", "subject"])(
  "refusals of one who makes up a %s each time are few, and all counted",
  async (name) => {
    const audit = open();
    const refusal = { action: "room.join", reason: "topic_forbidden", actor: "mallory" };
    for (let i = 0; i < 1_000; i += 1) audit.record({ ...refusal, [name]: `made-up-${i}` });
    // Those that have a record are still counted in it, and others' have their own.
    audit.record({ ...refusal, [name]: "made-up-3" });
    audit.record({ ...refusal, reason: "bad_request", [name]: "vault" });
    audit.record({ ...refusal, actor: "eve", [name]: "vault" });
    const seen = (await audit.list({ limit: 300 })).reverse();
    expect(seen.map(({ count, actor, topic, subject }) => [count, actor, topic ?? subject])).toEqual([
      [1, "mallory", "made-up-0"],
      [1, "mallory", "made-up-1"],
      [1, "mallory", "made-up-2"],
      [2, "mallory", "made-up-3"],
      [996, "mallory", undefined],
      [1, "mallory", "vault"],
      [1, "eve", "vault"],
    ]);
  },
);

test("who is refused under ever new names, or from ever new addresses, crowds out no other record; control: the first have their own", async () => {
  const audit = open();
  const asked = 10_000;
  for (let i = 0; i < asked; i += 1)
    audit.record({ action: "room.join", actor: `2001:db8::${i}`, reason: "unauthorised" });
  audit.record({ action: "gate.approved", actor: "operator", subject: "c" });
  expect(await audit.flush()).toBe(true);
  const records = await audit.list({ limit: 1_000 });
  expect(records.length).toBe(130);
  expect(records[0]).toMatchObject({ action: "gate.approved", actor: "operator" });
  expect(records.reduce((sum, { count }) => sum + (count ?? 1), 0)).toBe(asked + 1);
  expect(records.filter(({ actor }) => actor === undefined)).toMatchObject([
    { action: "room.join", reason: "unauthorised", count: asked - 128 },
  ]);
  expect(records.at(-1)).toMatchObject({ actor: "2001:db8::0" });
  // The next second has places again.
  audit.record({ action: "room.join", actor: "2001:db8::again", reason: "unauthorised" });
  await audit.flush();
  expect(await audit.list({ limit: 1 })).toMatchObject([{ actor: "2001:db8::again" }]);
});

test("texts are bounded, survive any character, and hold no token", async () => {
  const audit = open();
  const jws = "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl";
  audit.record({ action: "room.join", topic: `a\u0000b\ud800"\n`, actor: "x".repeat(100_000), reason: jws });
  audit.record({ action: "tool.call", detail: { token: jws, long: "\ud83d\ude00".repeat(10_000) } });
  audit.record({ action: "tool.call", detail: jws });
  const text = JSON.stringify(await audit.list({ limit: 10 }));
  expect(text).not.toContain("eyJ");
  expect(text.length).toBeLessThan(8_000);
  expect((await audit.list({ limit: 1, before: 2 }))[0]?.topic).toBe(`a\u0000b\ufffd"\n`);
  expect(await audit.verify()).toMatchObject({ ok: true, records: 3 });
});

describe("the chain in SQLite", () => {
  auditStoreCases(async () => {
    const open = async () => createSqliteAuditStore(openState(path));
    return { store: createSqliteAuditStore(db), open, sql: (text) => elsewhere((other) => other.exec(text)) };
  });
});

test("a store that fails is logged and counted, never thrown; the records wait within bounds", async () => {
  const lines: string[] = [];
  const metrics = createMetrics();
  const log = createLogger({ level: "error", destination: { write: (line) => void lines.push(line) } });
  const audit = createAudit({ store: createSqliteAuditStore(db), clock, log, metrics });
  db.exec("ALTER TABLE audit RENAME TO elsewhere");
  expect(await audit.recordNow({ action: "participant.kick" })).toBe(false);
  expect(lines).toHaveLength(1);
  for (let i = 0; i < 5_000; i += 1) audit.record({ action: "call", actor: `caller ${i}` });
  // A flood does not hammer the failing store.
  expect(lines).toHaveLength(1);
  expect(await audit.flush()).toBe(false);
  expect(await metrics.text()).toContain("mcpx_audit_write_failures_total 2");
  expect(await metrics.text()).toContain("mcpx_audit_lost_total 905");

  db.exec("ALTER TABLE elsewhere RENAME TO audit");
  expect(await audit.flush()).toBe(true);
  expect(await audit.list({ limit: 1 })).toMatchObject([{ action: "audit.lost", count: 905 }]);
  expect(await audit.verify()).toMatchObject({ ok: true, records: 4_097 });
  await audit.close();
});
