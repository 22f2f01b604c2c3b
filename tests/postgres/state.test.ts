// State of the tree on a real PostgreSQL: the cases of every sibling, and what only a store that outlives a process has.
import { createPostgresBudgetStore, createPostgresRegistrationStore, treeOnPostgres } from "@mcpx/aggregator";
import { type Clock, migratePostgres, openPostgresSession, readPostgresAddress } from "@mcpx/host";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { budgetStoreCases, useFor } from "../../packages/aggregator/src/budgets/store-cases.ts";
import {
  claimOf,
  createSettableClock,
  ownerOf,
  registrationStoreCases,
} from "../../packages/aggregator/src/registration/registration-store-cases.ts";
import { startPostgres } from "../support/postgres-server.ts";

const server = await startPostgres();
afterAll(() => server[Symbol.asyncDispose]());

async function openSession(url = server.url()) {
  const address = readPostgresAddress(url);
  await migratePostgres(address, treeOnPostgres);
  const session = await openPostgresSession(address);
  onTestFinished(() => session.close());
  return session;
}

describe("registrations", () => {
  const open = async (options: { clock: Clock; epochsMax?: number }, url?: string) =>
    createPostgresRegistrationStore({ session: await openSession(url), ...options });

  registrationStoreCases(open);

  test("[AX-4.2-2] [AX-4.2-5] [AX-13.4-1] claims, proofs and epochs outlive the process, leases do not", async () => {
    const clock = createSettableClock();
    const url = server.url();
    const before = await open({ clock }, url);
    const other = claimOf({ identity: "token:mallory", isProven: false });
    await before.claim(claimOf(), 1_000);
    await before.useProof("p", clock.now() + 600_000);
    for (const session of ["1", "2", "3"]) await before.take("s1", ownerOf("a", session), 0);
    const after = await open({ clock }, url);
    expect(await after.claim(other, 1_000)).toEqual(claimOf());
    expect(await after.useProof("p", clock.now() + 600_000)).toBe(false);
    expect(await after.renew("s1", "3", 1_000)).toBe(false);
    expect(await after.take("s1", ownerOf("b"), 1_000)).toEqual({ isOurs: true, epoch: 4 });
    clock.advance(1_000);
    expect(await after.claim(other, 1_000)).toEqual(other);
  });

  test("[AX-4.2-1] [AX-4.2-5] of many processes one gets a segment, a proof and each epoch", async () => {
    const clock = createSettableClock();
    const url = server.url();
    const stores = await Promise.all(Array.from({ length: 4 }, () => open({ clock }, url)));
    for (let round = 0; round < 10; round += 1) {
      const claims = await Promise.all(
        stores.map((store, i) =>
          store.claim(claimOf({ segment: `g${round}`, subserverId: `s${i}`, identity: String(i) }), 1_000),
        ),
      );
      expect(new Set(claims.map(({ identity }) => identity)).size).toBe(1);
      const used = await Promise.all(stores.map((store) => store.useProof(`p${round}`, clock.now())));
      expect(used.filter(Boolean)).toHaveLength(1);
      const leases = await Promise.all(
        stores.map((store, i) => store.take(`t${round}`, ownerOf(`a${i}`), 1_000)),
      );
      expect(leases.map((lease) => lease.isOurs && lease.epoch).toSorted()).toEqual([1, 2, 3, 4]);
    }
  });

  test("what counts no more is thrown away", async () => {
    const clock = createSettableClock();
    const store = await open({ clock, epochsMax: 20 }, server.url("thrown"));
    for (let i = 0; i < 30; i += 1) {
      await store.claim(claimOf({ segment: `s${i}` }), 1_000);
      await store.useProof(`p${i}`, clock.now() + 1_000);
      await store.take(`s${i}`, ownerOf("a"), 1_000);
    }
    const counts = async () => {
      const tables = ["segment_claims", "used_proofs", "subserver_epochs"];
      const rows = tables.map((table) => server.sql(`SELECT count(*)::int AS n FROM thrown.${table}`));
      return (await Promise.all(rows)).map(([row]) => row?.n);
    };
    expect(await counts()).toEqual([30, 30, 20]);
    clock.advance(30 * 86_400_000);
    await store.claim(claimOf(), 1_000);
    await store.useProof("p", clock.now() + 1_000);
    expect(await counts()).toEqual([1, 1, 20]);
  });

  test("[AX-4.2-1] a claim that cannot be written is not given, and says nothing about the store", async () => {
    const clock = createSettableClock();
    const store = await open({ clock }, server.url("gone"));
    await server.sql("DROP TABLE gone.segment_claims, gone.subserver_epochs");
    await expect(store.claim(claimOf(), 1_000)).rejects.toMatchObject({
      code: "storage_failed",
      message: expect.not.stringMatching(/segment_claims|gone/),
    });
    await expect(store.take("s1", ownerOf("a"), 1_000)).rejects.toMatchObject({ code: "storage_failed" });
    expect(await store.renew("s1", "a-1", 1_000)).toBe(false);
  });
});

describe("used budgets", () => {
  budgetStoreCases(async () => createPostgresBudgetStore(await openSession()));

  test("outlive the session, and a write that fails at the server leaves nothing of itself", async () => {
    const url = server.url("budgets");
    await createPostgresBudgetStore(await openSession(url)).write([useFor("a")], []);
    const store = createPostgresBudgetStore(await openSession(url));
    expect(await store.all()).toEqual([useFor("a")]);
    await server.sql("ALTER TABLE budgets.budget_uses ADD CHECK (mutable_calls < 100)");
    const uses = [useFor("b"), useFor("c", { mutableCalls: 100 })];
    await expect(store.write(uses, ["a"])).rejects.toMatchObject({ code: "storage_failed" });
    expect(await store.all()).toEqual([useFor("a")]);
  });
});
