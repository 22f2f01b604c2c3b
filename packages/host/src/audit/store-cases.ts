// What every store of the audit chain has to do.
import { describe, expect, test } from "vitest";
import { createManualClock } from "../clock.ts";
import { createLogger } from "../logging/log.ts";
import { type Audit, type AuditOptions, createAudit } from "./audit.ts";
import type { AuditRow } from "./chain.ts";
import type { AuditStore } from "./store.ts";

interface OpenStore {
  store: AuditStore;
  /** The same store once more, as another process has it. */
  open(): Promise<AuditStore>;
  /** Changes it by hand. */
  sql(text: string): Promise<unknown>;
}

const clock = createManualClock();
const log = createLogger({ level: "silent" });
const auditOf = (store: AuditStore, more: Partial<AuditOptions> = {}) =>
  createAudit({ store, clock, log, ...more });

const rowOf = (more: Partial<AuditRow> = {}): AuditRow => ({
  ...{
    at: 1_000,
    action: "call",
    reason: null,
    actor: null,
    subject: null,
    topic: null,
    detail: null,
    count: 1,
  },
  ...more,
});

/** Ten records, each of a batch of its own. */
async function filled(store: AuditStore): Promise<Audit> {
  const audit = auditOf(store);
  for (let i = 0; i < 10; i += 1) {
    audit.record({ action: "call", actor: `agent-${i}`, detail: { n: i } });
    await audit.flush();
  }
  return audit;
}

/** Each call opens an empty one. */
export function auditStoreCases(open: () => Promise<OpenStore>): void {
  test("an untouched chain verifies, an empty one too, and it goes on after a restart", async () => {
    const { store, open: again } = await open();
    expect(await auditOf(store).verify()).toMatchObject({ ok: true, records: 0 });
    expect(await auditOf(store).list({ limit: 5 })).toEqual([]);
    const head = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(await (await filled(store)).verify()).toEqual({ ok: true, records: 10, head });
    const audit = auditOf(await again());
    await audit.recordNow({ action: "again" });
    expect(await audit.verify()).toMatchObject({ ok: true, records: 11 });
  });

  test("records come back as they were, whatever characters they have", async () => {
    const { store } = await open();
    const odd = `ä\u0000b "\\{},NULL 😀`;
    const rows = [
      rowOf({
        reason: odd,
        actor: odd,
        subject: "",
        topic: odd,
        detail: JSON.stringify(odd),
        count: 4_000_000_000,
      }),
      rowOf(),
    ];
    await store.append(rows);
    const { rows: read, head, pruned } = await store.page({ after: 0, limit: 10 });
    expect(read).toMatchObject(rows.map((row, index) => ({ ...row, seq: index + 1 })));
    expect(head).toEqual({ seq: 2, hash: read[1]?.hash });
    expect(pruned).toBeUndefined();
    expect(await auditOf(store).list({ limit: 5, actor: odd })).toMatchObject([{ seq: 1, actor: odd }]);
    expect(await auditOf(store).verify()).toMatchObject({ ok: true, records: 2 });
  });

  test("pages go on after a number and begin at a time; the head is always that of the whole", async () => {
    const { store } = await open();
    await store.append([1, 2, 3, 2, 5].map((at) => rowOf({ at })));
    const seqs = async (query: Parameters<AuditStore["page"]>[0]) =>
      (await auditOf(store).page(query)).rows.map(({ seq }) => seq);
    expect(await seqs({ after: 0, limit: 2 })).toEqual([1, 2]);
    expect(await seqs({ after: 3, limit: 9 })).toEqual([4, 5]);
    expect(await seqs({ after: 0, limit: 9, since: 3 })).toEqual([3, 5]);
    expect(await seqs({ after: 5, limit: 9 })).toEqual([]);
    expect((await store.page({ after: 0, limit: 1 })).head.seq).toBe(5);
    expect(await store.bounds()).toEqual({ first: 1, last: 5 });
  });

  test.each([
    ["gate.approve", [3]],
    ["gate.*", [4, 3]],
    ["*", [5, 4, 3, 2, 1]],
    ["*.a**e", [4, 3]],
    ["g_te.%", []],
    ["[g]ate.*", []],
    ["100%_[?]\\", [2]],
    ["100%*\\", [2]],
    ["a*b*c*d*", [1]],
    ["nothing", []],
  ])("those of %s are found", async (action, found) => {
    const { store } = await open();
    const actions = ["abcd*e*", "100%_[?]\\", "gate.approve", "gate.ate", "x"];
    await store.append(actions.map((one) => rowOf({ action: one })));
    expect((await auditOf(store).list({ limit: 9, action })).map(({ seq }) => seq)).toEqual(found);
  });

  test("a batch that cannot be written leaves nothing of itself", async () => {
    const { store } = await open();
    await store.append([rowOf()]);
    await expect(store.append([rowOf(), rowOf({ count: 0.5 })])).rejects.toThrow();
    await store.append([rowOf()]);
    expect(await auditOf(store).verify()).toMatchObject({ ok: true, records: 2 });
  });

  test("two processes write one chain", async () => {
    const { store, open: again } = await open();
    const audits = [auditOf(store), auditOf(await again())];
    const write = async (audit: Audit, n: number) => {
      for (let i = 0; i < 15; i += 1) expect(await audit.recordNow({ action: `from ${n}` })).toBe(true);
    };
    await Promise.all(audits.map(write));
    expect(await auditOf(store).verify()).toMatchObject({ ok: true, records: 30 });
  });

  test("the oldest go once, the chain says so, and goes on", async () => {
    const { store, open: again } = await open();
    const audit = await filled(store);
    const pruned = await store.prune(4, 9_000);
    expect(pruned).toEqual({ to: 4, hash: expect.any(String), at: 9_000 });
    expect(await (await again()).prune(4, 9_000)).toBeUndefined();
    expect(await store.prune(99, 9_000)).toBeUndefined();
    expect(await store.bounds()).toEqual({ first: 5, last: 11 });
    expect(await store.page({ after: 0, limit: 1 })).toMatchObject({ rows: [{ seq: 5 }], pruned });
    expect(await audit.list({ limit: 1 })).toMatchObject([{ action: "audit.prune", detail: { to: 4 } }]);
    expect(await audit.verify()).toMatchObject({ ok: true, records: 7, pruned });
  });

  describe("what is changed by hand is found:", () => {
    test.each([
      ["a changed actor", "UPDATE audit SET actor = 'somebody' WHERE seq = 4", 4],
      ["a changed time", "UPDATE audit SET at = at + 1 WHERE seq = 4", 4],
      ["a changed detail", `UPDATE audit SET detail = '{"n":99}' WHERE seq = 4`, 4],
      ["a removed reason", "UPDATE audit SET reason = '' WHERE seq = 4", 4],
      ["a changed count", "UPDATE audit SET count = 2 WHERE seq = 4", 4],
      ["a changed hash", "UPDATE audit SET hash = upper(hash) WHERE seq = 4", 4],
      ["a record deleted in the middle", "DELETE FROM audit WHERE seq = 4", 4],
      ["the first record deleted", "DELETE FROM audit WHERE seq = 1", 1],
      [
        "a record deleted and the rest renumbered",
        "DELETE FROM audit WHERE seq = 4; UPDATE audit SET seq = seq - 1 WHERE seq > 4",
        4,
      ],
      [
        "two records swapped",
        "UPDATE audit SET seq = 99 WHERE seq = 4; UPDATE audit SET seq = 4 WHERE seq = 5; UPDATE audit SET seq = 5 WHERE seq = 99",
        4,
      ],
      ["the newest record renumbered", "UPDATE audit SET seq = 12 WHERE seq = 10", 10],
      ["the newest records cut off", "DELETE FROM audit WHERE seq > 7", 8],
      ["everything cut off", "DELETE FROM audit", 1],
      [
        "a record added without its head",
        "INSERT INTO audit SELECT 11, at, action, reason, actor, subject, topic, detail, count, hash FROM audit WHERE seq = 10",
        11,
      ],
      ["the head removed", "DELETE FROM audit_head", 1],
      ["the head set back", "UPDATE audit_head SET seq = 7", 8],
      ["the head's hash changed", "UPDATE audit_head SET hash = 'x'", 10],
    ])("%s is found", async (_what, sql, at) => {
      const { store, sql: change } = await open();
      const audit = await filled(store);
      await change(sql);
      expect(await audit.verify()).toEqual({ ok: false, at });
    });
  });
}
