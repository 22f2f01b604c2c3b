import { join } from "node:path";
import { openDatabase } from "@mcpx/host";
import { describe, expect, test } from "vitest";
import { createSettableClock } from "../../registration/registration-store-cases.ts";
import { openTreeState } from "../../testing/open-tree-state.ts";
import { scratch } from "../../testing/scratch.ts";
import { aggregatorMigrations } from "../../tree/migrations.ts";
import { approvalOf, lifeMs, race, refused, wishOf } from "../testing/gate-wishes.ts";
import { termsOf } from "./gate-store.ts";
import { gateStoreCases } from "./gate-store-cases.ts";
import { createSqliteGateStore } from "./gate-store-sqlite.ts";

const somePath = () => join(scratch(), "state.db");

/** A store on a file, and the way to open the file again without having closed anything. */
function crashable() {
  const path = somePath();
  const clock = createSettableClock();
  const reopen = () => createSqliteGateStore({ db: openTreeState(path), clock });
  return { clock, store: reopen(), reopen, path };
}

describe("gates in SQLite", () => {
  gateStoreCases(() => {
    const db = openTreeState();
    return (options) => createSqliteGateStore({ db, ...options });
  });

  test("what waits goes on waiting after a restart, with its approvals and its arguments", async () => {
    const { clock, store, reopen } = crashable();
    const argumentsText = '{"n":9007199254740993, "m":1.0}';
    const { gate } = await store.open(wishOf({ approvers: 2, argumentsText }), lifeMs);
    const half = await store.approve(gate.id, approvalOf("alice"));
    clock.advance(lifeMs - 1);
    const second = reopen();
    expect(await second.recover()).toEqual([]);
    expect(await second.find(gate.id)).toEqual(half);
    expect((await second.open(wishOf({ approvers: 2, argumentsText }), lifeMs)).isNew).toBe(false);
    await expect(second.approve(gate.id, approvalOf("alice", "new"))).rejects.toThrow(
      refused("confirmation_used"),
    );
    expect(await second.approve(gate.id, approvalOf("bob"))).toMatchObject({
      status: "approved",
      argumentsText,
    });
    expect(await second.consume(gate.id)).toBe(true);
  });

  test("[AX-11.3-5] a crash between consuming and the outcome: indeterminate, and never again", async () => {
    const { store, reopen } = crashable();
    const { gate } = await store.open(wishOf(), lifeMs);
    await store.approve(gate.id, approvalOf());
    expect(await store.consume(gate.id)).toBe(true);
    const second = reopen();
    expect(await second.consume(gate.id)).toBe(false);
    expect(await second.recover()).toMatchObject([{ id: gate.id, status: "indeterminate" }]);
    expect((await race(() => second.consume(gate.id))).filter(Boolean)).toHaveLength(0);
    expect(await store.settle(gate.id, { status: "done" })).toBe(false);
    // The caller that asks again hears it, and does not start it again.
    expect(await second.open(wishOf(), lifeMs)).toMatchObject({
      isNew: false,
      gate: { id: gate.id, status: "indeterminate" },
    });
  });

  test("[AX-11.3-5] a crash before consuming: never sent, and said so; what waits for nobody goes on", async () => {
    const { store, reopen } = crashable();
    const { gate } = await store.open(wishOf(), lifeMs);
    await store.approve(gate.id, approvalOf());
    const allowed = await store.open(wishOf({ digest: "sha256:2", isAllowed: true }), lifeMs);
    const second = reopen();
    expect(await second.recover()).toMatchObject([
      { id: gate.id, status: "refused", refusal: "never_sent", reason: expect.stringContaining("before") },
    ]);
    expect(await second.recover()).toEqual([]);
    expect((await race(() => second.consume(gate.id))).filter(Boolean)).toHaveLength(0);
    expect((await race(() => second.consume(allowed.gate.id))).filter(Boolean)).toHaveLength(1);
  });

  test("[AX-11.3-5] without a crash an approval holds, for one of all who have the store", async () => {
    const { store, reopen } = crashable();
    const { gate } = await store.open(wishOf(), lifeMs);
    await store.approve(gate.id, approvalOf());
    const stores = [store, reopen(), reopen()];
    const won = await race((i) => (stores[i % 3] ?? store).consume(gate.id));
    expect(won.filter(Boolean)).toHaveLength(1);
  });

  test("[AX-11.3-2] a proof that was used stays used after a restart", async () => {
    const { clock, store, reopen } = crashable();
    const { gate } = await store.open(wishOf(), lifeMs);
    await store.approve(gate.id, approvalOf("alice", "p"));
    clock.advance(365 * 86_400_000);
    const second = reopen();
    expect(await second.useProof("p")).toBe(false);
    const { gate: other } = await second.open(wishOf({ digest: "sha256:y" }), lifeMs);
    await expect(second.approve(other.id, approvalOf("alice", "p"))).rejects.toThrow(
      refused("confirmation_used"),
    );
  });

  test("[AX-11.3-1] what has expired meanwhile is over after a restart", async () => {
    const { clock, store, reopen } = crashable();
    const { gate } = await store.open(wishOf(), lifeMs);
    await store.approve(gate.id, approvalOf());
    clock.advance(lifeMs);
    const second = reopen();
    expect(await second.consume(gate.id)).toBe(false);
    expect(await second.expire()).toMatchObject([{ id: gate.id, status: "expired" }]);
  });

  test("[AX-11.3-1] a wall clock set back during a restart gives no gate more than its life", async () => {
    const { clock, store, reopen } = crashable();
    const { gate } = await store.open(wishOf(), lifeMs);
    clock.setWall(-86_400_000);
    const second = reopen();
    expect(await second.expire()).toEqual([]);
    clock.advance(lifeMs);
    expect(await second.expire()).toMatchObject([{ id: gate.id }]);
  });

  test("an outcome waits for its caller through a restart", async () => {
    const { store, reopen } = crashable();
    const { gate } = await store.open(wishOf(), lifeMs);
    await store.approve(gate.id, approvalOf());
    await store.consume(gate.id);
    await store.settle(gate.id, { status: "done", resultText: '{"n":1.0}' });
    const second = reopen();
    expect(await second.recover()).toEqual([]);
    const found = await second.findOpen({ principal: "agent", tool: "files.delete", digest: "sha256:x" });
    expect(found).toMatchObject({ id: gate.id, status: "done", resultText: '{"n":1.0}', isDelivered: false });
  });

  test("a held result outlives a crash, is held still, and has no more time than it had", async () => {
    const { clock, store, reopen } = crashable();
    const { gate } = await store.open(wishOf({ holdsResult: true, isAllowed: true }), lifeMs);
    await store.consume(gate.id);
    clock.advance(1_000);
    await store.hold(gate.id, { status: "failed", resultText: '{"error":{}}' }, lifeMs);
    const before = await store.find(gate.id);
    const second = reopen();
    expect(await second.recover()).toEqual([]);
    expect(await second.find(gate.id)).toEqual(before);
    expect(await second.expire()).toEqual([]);
    clock.setWall(-86_400_000);
    const third = reopen();
    expect(await third.expire()).toEqual([]);
    clock.advance(lifeMs);
    expect(await third.expire()).toMatchObject([{ id: gate.id, status: "withheld" }]);
    expect((await reopen().find(gate.id))?.resultText).toBeUndefined();
  });

  test("a store of before opens, and what waits in it can be approved and held", async () => {
    const path = somePath();
    const clock = createSettableClock();
    const migrations = aggregatorMigrations.filter(({ version }) => version < 5);
    const old = openDatabase(path, { component: "aggregator", migrations, synchronous: "FULL" });
    const today = openTreeState();
    const { gate } = await createSqliteGateStore({ db: today, clock }).open(
      wishOf({ holdsResult: true }),
      lifeMs,
    );
    const columns =
      "id, status, principal, tool, digest, created_at, expires_at, is_delivered, chars, facts, arguments";
    const row = today.prepare(`SELECT ${columns} FROM gates`).get() ?? {};
    old
      .prepare(`INSERT INTO gates (${columns}) VALUES (${columns.replace(/\w+/g, "?")})`)
      .run(...Object.values(row));
    old.close();
    const store = createSqliteGateStore({ db: openTreeState(path), clock });
    expect(await store.find(gate.id)).toEqual(gate);
    await store.approve(gate.id, approvalOf());
    await store.consume(gate.id);
    expect(await store.hold(gate.id, { status: "done", resultText: "{}" }, lifeMs)).toBe(true);
    expect(await store.list({ status: "held" })).toHaveLength(1);
  });

  test("more than a page of lost calls are all found", async () => {
    const clock = createSettableClock();
    const limits = { waitingPerPrincipalMax: 2_000 };
    const db = openTreeState();
    const store = createSqliteGateStore({ db, clock, limits });
    for (let i = 0; i < 1_100; i++) {
      const { gate } = await store.open(wishOf({ digest: `sha256:${i}` }), lifeMs);
      await store.approve(gate.id, approvalOf("alice", `${i}`));
      await store.consume(gate.id);
    }
    expect(await createSqliteGateStore({ db, clock }).recover()).toHaveLength(1_100);
  });

  test("a database that may forget in a power cut keeps no gates", () => {
    const clock = createSettableClock();
    expect(() =>
      createSqliteGateStore({ db: openTreeState(somePath(), { synchronous: "NORMAL" }), clock }),
    ).toThrow("synchronous");
  });

  test("what cannot be written is not given", async () => {
    const clock = createSettableClock();
    const db = openTreeState(somePath());
    const store = createSqliteGateStore({ db, clock });
    const { gate } = await store.open(wishOf(), lifeMs);
    await store.approve(gate.id, approvalOf());
    db.exec("PRAGMA query_only = ON");
    await expect(store.consume(gate.id)).rejects.toThrow();
    await expect(store.useProof("p")).rejects.toThrow();
    db.exec("PRAGMA query_only = OFF");
    expect(await store.consume(gate.id)).toBe(true);
  });

  test("nobody rewrites the arguments of a gate", async () => {
    const db = openTreeState();
    const store = createSqliteGateStore({ db, clock: createSettableClock() });
    const { gate } = await store.open(wishOf(), lifeMs);
    const forged = { ...approvalOf(), argumentsText: "{}", status: "consumed", approvers: 0 };
    await store.approve(gate.id, forged);
    expect(await store.find(gate.id)).toMatchObject({ ...wishOf(), status: "approved" });
  });
});

test("[AX-11.3-2] the terms of a gate name this call, here, until then", async () => {
  const store = createSqliteGateStore({ db: openTreeState(), clock: createSettableClock() });
  const { gate } = await store.open(wishOf(), lifeMs);
  expect(termsOf(gate, "aggregator-1")).toEqual({
    confirmation_id: gate.id,
    aggregator_id: "aggregator-1",
    route: ["plant", "files", "delete"],
    tool: "files.delete",
    arguments_digest: "sha256:x",
    nonce: gate.nonce,
    expires_at: Date.UTC(2030, 0, 1, 0, 5) / 1_000,
  });
});
