// What every store of a guard must do. It needs no test runner, so that a page can run it too: each case throws.
import type { AccessStore, AccessStoreBounds, GrantRecord, Spending } from "./access-store.ts";

interface AccessStoreHouse {
  open(bounds?: Partial<AccessStoreBounds>): Promise<AccessStore>;
  /** The same data once more, as after a restart; absent where nothing outlives the program. */
  reopen?: (store: AccessStore) => Promise<AccessStore>;
}

interface Case {
  name: string;
  run(house: AccessStoreHouse): Promise<void>;
}

const nowMs = 1_800_000_000_000;
const untilMs = nowMs + 3_600_000;

const spending = (nonce: string, maxUses?: number, id = "oven c1"): Spending => ({
  nonce,
  nonceUntilMs: nowMs + 120_000,
  capabilities: [{ id, maxUses, untilMs }],
});

const grant = (jti: string, more: Partial<GrantRecord> = {}): GrantRecord => ({
  id: `oven ${jti}`,
  jti,
  topic: "kitchen",
  holder: "ann",
  tools: ["heat"],
  isByPolicy: true,
  issuedAtMs: nowMs,
  untilMs,
  ...more,
});

/** With the grants the cases use. */
async function stocked(house: AccessStoreHouse, bounds?: Partial<AccessStoreBounds>): Promise<AccessStore> {
  const store = await house.open(bounds);
  for (const jti of ["c1", "c5", "c9"]) await store.remember(grant(jti), nowMs);
  return store;
}

function equal(actual: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (a !== b) throw new Error(`expected ${b}, got ${a}`);
}

const tally = (outcomes: readonly string[]) => {
  const counts: Record<string, number> = {};
  for (const outcome of outcomes.toSorted()) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
};

export const accessStoreCases: readonly Case[] = [
  {
    name: "[AC-8-2] a proof is good once, until its time is over",
    async run(house) {
      const store = await stocked(house);
      equal(await store.spend(spending("n1"), nowMs), "spent");
      equal(await store.spend(spending("n1"), nowMs + 119_999), "replayed");
      equal(await store.spend(spending("n2"), nowMs), "spent");
      equal(await store.spend(spending("n1"), nowMs + 120_000), "spent");
      await store.close();
    },
  },
  {
    name: "[AC-8-2] a proof raced a hundred times passes once",
    async run(house) {
      const store = await stocked(house);
      const outcomes = await Promise.all(
        Array.from({ length: 100 }, () => store.spend(spending("n"), nowMs)),
      );
      equal(tally(outcomes), { replayed: 99, spent: 1 });
      await store.close();
    },
  },
  {
    name: "[AC-7-2] of a hundred at once as many pass as there are uses",
    async run(house) {
      const store = await stocked(house);
      const outcomes = await Promise.all(
        Array.from({ length: 100 }, (_, n) => store.spend(spending(`n${n}`, 3), nowMs)),
      );
      equal(tally(outcomes), { spent: 3, uses_exhausted: 97 });
      await store.close();
    },
  },
  {
    name: "[AC-9-2] a use counts for every link of the chain, or for none",
    async run(house) {
      const store = await stocked(house);
      const both = (nonce: string): Spending => ({
        ...spending(nonce),
        capabilities: [
          { id: "ann c2", maxUses: 5, untilMs },
          { id: "oven c1", maxUses: 2, untilMs },
        ],
      });
      equal(await store.spend(both("n1"), nowMs), "spent");
      equal(await store.spend(both("n2"), nowMs), "spent");
      equal(await store.spend(both("n3"), nowMs), "uses_exhausted");
      equal((await store.grants(nowMs)).map(({ jti, uses }) => [jti, uses])[0], ["c1", 2]);
      equal(await store.spend(spending("n3"), nowMs), "spent");
      await store.close();
    },
  },
  {
    name: "[AC-5-5] what is revoked is refused at once, with whatever was made from it",
    async run(house) {
      const store = await stocked(house);
      await store.revoke([{ id: "oven c1", untilMs }]);
      equal(await store.spend(spending("n1"), nowMs), "revoked");
      const child = { id: "ann c2", maxUses: undefined, untilMs };
      const chain = { ...spending("n2"), capabilities: [child, ...spending("n2").capabilities] };
      equal(await store.spend(chain, nowMs), "revoked");
      equal(await store.spend(spending("n3", undefined, "oven c9"), nowMs), "spent");
      await store.close();
    },
  },
  {
    name: "what was never granted here, or is forgotten, is worth nothing",
    async run(house) {
      const store = await stocked(house);
      equal(await store.spend(spending("n1", undefined, "oven c7"), nowMs), "unknown");
      const child = { id: "ann c2", maxUses: undefined, untilMs };
      equal(await store.spend({ ...spending("n2"), capabilities: [child] }, nowMs), "unknown");
      await store.close();
    },
  },
  {
    name: "grants are listed with their uses until they are over",
    async run({ open }) {
      const store = await open();
      equal(await store.remember(grant("c1", { maxUses: 5 }), nowMs), true);
      equal(await store.remember(grant("c2", { tools: "*", untilMs: nowMs + 1 }), nowMs), true);
      await store.spend(spending("n1", 5), nowMs);
      await store.revoke([{ id: "oven c2", untilMs }]);
      const seen = (await store.grants(nowMs)).map(({ jti, uses, isRevoked, tools }) => [
        jti,
        uses,
        isRevoked,
        tools,
      ]);
      equal(seen, [
        ["c1", 1, false, ["heat"]],
        ["c2", 0, true, "*"],
      ]);
      equal(
        (await store.grants(nowMs + 1)).map(({ jti }) => jti),
        ["c1"],
      );
      await store.close();
    },
  },
  {
    name: "what does not fit is refused, never forgotten instead",
    async run({ open }) {
      const store = await open({ noncesMax: 2, grantsMax: 1 });
      equal(await store.remember(grant("c1"), nowMs), true);
      equal(await store.spend(spending("n1"), nowMs), "spent");
      equal(await store.spend(spending("n2"), nowMs), "spent");
      equal(await store.spend(spending("n3"), nowMs), "full");
      equal(await store.spend(spending("n1"), nowMs), "replayed");
      equal(await store.spend(spending("n3"), nowMs + 120_000), "spent");
      equal(await store.remember(grant("c2"), nowMs), false);
      equal(await store.remember(grant("c2"), untilMs), true);
      await store.close();
    },
  },
  {
    name: "[AC-8-2] [AC-7-2] [AC-9-7] a restart forgets neither proofs nor uses nor revocations",
    async run({ open, reopen }) {
      if (reopen === undefined) return;
      const before = await open();
      for (const jti of ["c1", "c2", "c5"]) await before.remember(grant(jti), nowMs);
      equal(await before.spend(spending("n1", 1), nowMs), "spent");
      await before.revoke([{ id: "oven c5", untilMs }]);
      const store = await reopen(before);
      equal(await store.spend(spending("n1", undefined, "oven c2"), nowMs), "replayed");
      equal(await store.spend(spending("n2", 1), nowMs), "uses_exhausted");
      equal(await store.spend(spending("n3", undefined, "oven c5"), nowMs), "revoked");
      equal(
        (await store.grants(nowMs)).map(({ jti, uses }) => [jti, uses]),
        [
          ["c1", 1],
          ["c2", 0],
          ["c5", 0],
        ],
      );
      await store.close();
    },
  },
];
