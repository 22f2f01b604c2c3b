import { join } from "node:path";
import type { Clock } from "@mcpx/host";
import { describe, expect, test } from "vitest";
import { openTreeState } from "../testing/open-tree-state.ts";
import { scratch } from "../testing/scratch.ts";
import { epochsMax } from "./registration-store.ts";
import {
  claimOf,
  createSettableClock,
  epochOf,
  ownerOf,
  registrationStoreCases,
} from "./registration-store-cases.ts";
import { createSqliteRegistrationStore } from "./registration-store-sqlite.ts";

const openStore = (options: { clock: Clock; epochsMax: number }) =>
  createSqliteRegistrationStore({ db: openTreeState(), ...options });

const somePath = () => join(scratch(), "state.db");

/** A store on a file, and the way to open the file again. */
function restartable() {
  const path = somePath();
  const clock = createSettableClock();
  let db = openTreeState(path);
  return {
    clock,
    store: createSqliteRegistrationStore({ db, clock }),
    restart() {
      db.close();
      db = openTreeState(path);
      return createSqliteRegistrationStore({ db, clock });
    },
    count: (table: string) => db.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.rows,
  };
}

describe("registrations in SQLite", () => {
  registrationStoreCases(openStore);

  test("[AX-4.2-2] a claim outlives the process, and not its time", async () => {
    const { clock, store, restart } = restartable();
    const other = claimOf({ identity: "token:mallory", isProven: false });
    await store.claim(claimOf(), 1_000);
    clock.advance(999);
    const second = restart();
    expect(await second.claim(other, 1_000)).toEqual(claimOf());
    clock.advance(1);
    expect(await restart().claim(other, 1_000)).toEqual(other);
  });

  test("[AX-13.4-1] leases end with the process, epochs grow on", async () => {
    const { store, restart } = restartable();
    for (const session of ["1", "2", "3"]) await store.take("s1", ownerOf("a", session), 0);
    const second = restart();
    expect(await second.renew("s1", "3", 1_000)).toBe(false);
    expect(await second.take("s1", ownerOf("b"), 1_000)).toEqual({ isOurs: true, epoch: 4 });
  });

  test("[AX-4.2-5] a race for a proof has one winner, before and after a restart", async () => {
    const { clock, store, restart } = restartable();
    const race = (one: typeof store) =>
      Promise.all(Array.from({ length: 100 }, () => one.useProof("p", clock.now() + 600_000)));
    expect((await race(store)).filter(Boolean)).toHaveLength(1);
    expect((await race(restart())).filter(Boolean)).toHaveLength(0);
  });

  test("two processes do not both get a segment or a proof", async () => {
    const path = somePath();
    const clock = createSettableClock();
    const stores = [openTreeState(path), openTreeState(path)].map((db) =>
      createSqliteRegistrationStore({ db, clock }),
    );
    const claims = await Promise.all(
      stores.map((store, i) => store.claim(claimOf({ identity: String(i) }), 1_000)),
    );
    expect(claims.map(({ identity }) => identity)).toEqual(["0", "0"]);
    expect(await Promise.all(stores.map((store) => store.useProof("p", clock.now())))).toEqual([true, false]);
  });

  test("what counts no more is thrown away", async () => {
    const { clock, store, count } = restartable();
    for (let i = 0; i < 50; i++) {
      await store.claim(claimOf({ segment: `s${i}` }), 1_000);
      await store.useProof(`p${i}`, clock.now() + 1_000);
    }
    expect([count("segment_claims"), count("used_proofs")]).toEqual([50, 50]);
    clock.advance(30 * 86_400_000);
    await store.claim(claimOf(), 1_000);
    await store.useProof("p", clock.now() + 1_000);
    expect([count("segment_claims"), count("used_proofs")]).toEqual([1, 1]);
  });

  test("epochs of so many are kept and no more", async () => {
    const db = openTreeState();
    const store = createSqliteRegistrationStore({ db, clock: createSettableClock() });
    for (let i = 0; i < epochsMax + 10; i++) await store.take(`s${i}`, ownerOf("a"), 1_000);
    expect(db.prepare("SELECT count(*) AS rows FROM subserver_epochs").get()?.rows).toBe(epochsMax);
    expect(epochOf(await store.take("s0", ownerOf("a", "2"), 1_000))).toBe(2);
  });

  test("[AX-4.2-1] a claim that cannot be written is not given", async () => {
    const path = somePath();
    const clock = createSettableClock();
    const db = openTreeState(path);
    const store = createSqliteRegistrationStore({ db, clock });
    db.close();
    await expect(store.claim(claimOf(), 1_000)).rejects.toThrow();
    await expect(store.take("s1", ownerOf("a"), 1_000)).rejects.toThrow();
    expect(await store.renew("s1", "a-1", 1_000)).toBe(false);
  });
});
