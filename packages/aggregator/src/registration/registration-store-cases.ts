// What every store of registrations has to do.
import { setImmediate as turn } from "node:timers/promises";
import { type Clock, createManualClock } from "@mcpx/host";
import { expect, test } from "vitest";
import { type Claim, type Lease, proofSlackMs, type RegistrationStore } from "./registration-store.ts";

/** A clock whose wall time can be set, as people and time servers do. */
interface SettableClock extends Clock {
  advance(ms: number): void;
  setWall(byMs: number): void;
}

export function createSettableClock(): SettableClock {
  const clock = createManualClock();
  let skewMs = 0;
  return {
    now: () => clock.now() + skewMs,
    monotonic: clock.monotonic,
    advance: clock.advance,
    setWall(byMs) {
      skewMs += byMs;
    },
  };
}

const dayMs = 86_400_000;

export const claimOf = (more: Partial<Claim> = {}): Claim => ({
  segment: "edge",
  subserverId: "s1",
  identity: "dns:edge.example.com",
  registrant: "local edge",
  isProven: true,
  ...more,
});

const stranger = claimOf({
  subserverId: "s2",
  identity: "token:mallory",
  registrant: "local mallory",
  isProven: false,
});

export const ownerOf = (aggregatorId: string, sessionId = `${aggregatorId}-1`) => ({
  aggregatorId,
  sessionId,
});

export const epochOf = (lease: Lease) => (lease.isOurs ? lease.epoch : undefined);

/** Of so few the epoch is remembered here: thousands of writes to a disk would show no more. */
const epochsMax = 50;

type Open = (options: { clock: Clock; epochsMax: number }) => RegistrationStore | Promise<RegistrationStore>;

export function registrationStoreCases(open: Open): void {
  const start = async () => {
    const clock = createSettableClock();
    return { clock, store: await open({ clock, epochsMax }) };
  };
  claimCases(start);
  leaseCases(start);
  clockCases(start);
  proofCases(start);
}

type Start = () => Promise<{ clock: SettableClock; store: RegistrationStore }>;

function claimCases(start: Start): void {
  test("[AX-4.2-1] the first claim of a segment wins, and the next is told whose it is", async () => {
    const { store } = await start();
    expect(await store.claim(claimOf(), 1_000)).toEqual(claimOf());
    expect(await store.claim(stranger, 1_000)).toEqual(claimOf());
    expect(await store.claim({ ...stranger, segment: "other" }, 1_000)).toMatchObject({
      identity: "token:mallory",
    });
  });

  test("[AX-13.4-1] the id of one that is away is kept for it, wherever others register, until it leaves or its time ends", async () => {
    const { clock, store } = await start();
    await store.claim(claimOf(), 1_000);
    const thief = claimOf({ segment: "other", registrant: "local mallory" });
    expect(await store.claim(thief, 1_000)).toEqual(claimOf());
    expect(await store.claim({ ...thief, subserverId: "s9" }, 1_000), "control").toMatchObject({
      segment: "other",
    });
    // The same one may come elsewhere.
    expect(await store.claim(claimOf({ segment: "third" }), 1_000)).toEqual(claimOf({ segment: "third" }));
    await store.release("third", "s1");
    await store.leave("edge", 1_000);
    expect(await store.claim(thief, 1_000)).toEqual(thief);
    expect(await store.claim(claimOf({ segment: "edge", subserverId: "s3" }), 1_000)).toMatchObject({
      subserverId: "s3",
    });
    expect(await store.claim(claimOf({ segment: "fourth" }), 1_000)).toEqual(thief);
    clock.advance(1_000);
    expect(await store.claim(claimOf({ segment: "fourth" }), 1_000)).toMatchObject({ segment: "fourth" });
  });

  test("[AX-4.2-1] a race for a segment has one winner, and all learn the same", async () => {
    const { store } = await start();
    const answers = await Promise.all(
      Array.from({ length: 100 }, async (_, i) => {
        await turn();
        return store.claim(claimOf({ subserverId: `s${i}`, identity: `token:${i}` }), 1_000);
      }),
    );
    expect(new Set(answers.map(({ identity }) => identity)).size).toBe(1);
  });

  test("[AX-4.2-2] a claim is kept for its time, and is free after it", async () => {
    const { clock, store } = await start();
    await store.claim(claimOf(), 1_000);
    clock.advance(999);
    expect(await store.claim(stranger, 1_000)).toEqual(claimOf());
    clock.advance(1);
    expect(await store.claim(stranger, 1_000)).toEqual(stranger);
    expect(await store.claim(claimOf(), 1_000)).toEqual(stranger);
  });

  test("[AX-4.2-4] the same identity renews its claim, also for another subserver", async () => {
    const { clock, store } = await start();
    await store.claim(claimOf(), 1_000);
    clock.advance(600);
    const again = claimOf({ subserverId: "s9" });
    expect(await store.claim(again, 1_000)).toEqual(again);
    clock.advance(600);
    expect(await store.claim(stranger, 1_000)).toEqual(again);
  });

  test("a touch begins the time again, and wakes nothing that has expired", async () => {
    const { clock, store } = await start();
    await store.claim(claimOf(), 1_000);
    clock.advance(900);
    await store.touch("edge", 5_000);
    clock.advance(4_999);
    expect(await store.claim(stranger, 1_000)).toEqual(claimOf());
    clock.advance(1);
    await store.touch("edge", 5_000);
    await store.touch("nobody", 5_000);
    expect(await store.claim(stranger, 1_000)).toEqual(stranger);
  });

  test("only its subserver gives a segment up", async () => {
    const { store } = await start();
    await store.claim(claimOf(), 1_000);
    await store.release("edge", "s2");
    expect(await store.claim(stranger, 1_000)).toEqual(claimOf());
    await store.release("edge", "s1");
    expect(await store.claim(stranger, 1_000)).toEqual(stranger);
  });

  test("identities are any text, and differ by every character", async () => {
    const { store } = await start();
    const texts = ["__proto__", "", "a", "A", "a ", "ä\u0000b", "'; DROP TABLE segment_claims; --"];
    for (const [i, identity] of texts.entries()) {
      await store.claim(claimOf({ segment: String(i), identity }), 1_000);
    }
    for (const [i, identity] of texts.entries()) {
      for (const other of texts) {
        const found = await store.claim(claimOf({ segment: String(i), identity: other }), 1_000);
        expect(found.identity).toBe(identity);
      }
    }
  });
}

function leaseCases(start: Start): void {
  test("[AX-13.4-1] a subserver has one owner until its lease ends", async () => {
    const { clock, store } = await start();
    expect(await store.take("s1", ownerOf("a"), 1_000)).toEqual({ isOurs: true, epoch: 1 });
    clock.advance(400);
    expect(await store.take("s1", ownerOf("b"), 1_000)).toEqual({
      isOurs: false,
      owner: ownerOf("a"),
      leftMs: 600,
    });
    expect(await store.take("s2", ownerOf("b"), 1_000)).toEqual({ isOurs: true, epoch: 1 });
    clock.advance(600);
    expect(await store.take("s1", ownerOf("b"), 1_000)).toEqual({ isOurs: true, epoch: 2 });
    expect(await store.renew("s1", "a-1", 1_000)).toBe(false);
  });

  test("[AX-4.2-4] the same aggregator takes over from itself at once, and the older session is over", async () => {
    const { store } = await start();
    await store.take("s1", ownerOf("a"), 1_000);
    expect(await store.take("s1", ownerOf("a", "a-2"), 1_000)).toEqual({ isOurs: true, epoch: 2 });
    expect(await store.renew("s1", "a-1", 1_000)).toBe(false);
    await store.letGo("s1", "a-1");
    expect(await store.renew("s1", "a-2", 1_000)).toBe(true);
  });

  test("who asks again for what it has stays the same owner", async () => {
    const { clock, store } = await start();
    await store.take("s1", ownerOf("a"), 1_000);
    clock.advance(900);
    expect(await store.take("s1", ownerOf("a"), 1_000)).toEqual({ isOurs: true, epoch: 1 });
    clock.advance(900);
    expect(epochOf(await store.take("s1", ownerOf("b"), 1_000))).toBeUndefined();
  });

  test("a lease that has ended is renewed while nobody else has come", async () => {
    const { clock, store } = await start();
    await store.take("s1", ownerOf("a"), 1_000);
    clock.advance(1_400);
    expect(await store.renew("s1", "a-1", 1_000)).toBe(true);
    clock.advance(999);
    expect(await store.take("s1", ownerOf("b"), 1_000)).toMatchObject({ isOurs: false, leftMs: 1 });
  });

  test("a lease without an end lasts until it is let go", async () => {
    const { clock, store } = await start();
    await store.take("s1", ownerOf("a"), 0);
    clock.advance(30 * dayMs);
    const refused = await store.take("s1", ownerOf("b"), 1_000);
    expect(refused).toEqual({ isOurs: false, owner: ownerOf("a"), leftMs: 60_000 });
    await store.letGo("s1", "a-1");
    expect(await store.take("s1", ownerOf("b"), 1_000)).toEqual({ isOurs: true, epoch: 2 });
  });

  test("[AX-13.4-1] of many who take at once exactly one owns it, and epochs only grow", async () => {
    const { clock, store } = await start();
    const epochs: number[] = [];
    for (let round = 0; round < 20; round++) {
      const leases = await Promise.all(
        Array.from({ length: 50 }, async (_, i) => {
          await turn();
          return store.take("s1", ownerOf(`${round}-${i}`), 1_000);
        }),
      );
      const won = leases.flatMap((lease) => epochOf(lease) ?? []);
      expect(won).toHaveLength(1);
      epochs.push(...won);
      clock.advance(1_000);
    }
    expect(epochs).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  });

  test("epochs grow for those who were forgotten too", async () => {
    const { store } = await start();
    for (let i = 0; i < 7; i++) await store.take("old", ownerOf("a", `a-${i}`), 1_000);
    for (let i = 0; i < epochsMax; i++) await store.take(`s${i}`, ownerOf("a"), 1_000);
    expect(epochOf(await store.take("old", ownerOf("a", "a-7"), 1_000))).toBe(8);
    expect(epochOf(await store.take("young", ownerOf("a"), 1_000))).toBe(8);
  });
}

function clockCases(start: Start): void {
  test.for([dayMs, -dayMs])("a wall clock set by %i ms neither ends nor prolongs a lease", async (byMs) => {
    const { clock, store } = await start();
    await store.take("s1", ownerOf("a"), 1_000);
    clock.setWall(byMs);
    clock.advance(999);
    expect(await store.take("s1", ownerOf("b"), 1_000)).toMatchObject({ isOurs: false, leftMs: 1 });
    clock.advance(1);
    expect(await store.take("s1", ownerOf("b"), 1_000)).toEqual({ isOurs: true, epoch: 2 });
  });

  test("[AX-4.2-5] a wall clock set ahead and back again brings no used proof back", async () => {
    const { clock, store } = await start();
    await store.useProof("p", clock.now() + 600_000);
    clock.setWall(dayMs);
    clock.advance(120_000);
    expect(await store.useProof("q", clock.now() + 600_000)).toBe(true);
    clock.setWall(-dayMs);
    expect(await store.useProof("p", clock.now() + 600_000)).toBe(false);
  });
}

function proofCases(start: Start): void {
  test("[AX-4.2-5] a proof counts once, however many show it at once", async () => {
    const { clock, store } = await start();
    const used = await Promise.all(
      Array.from({ length: 100 }, async () => {
        await turn();
        return store.useProof("p", clock.now() + 600_000);
      }),
    );
    expect(used.filter(Boolean)).toHaveLength(1);
    expect(await store.useProof("q", clock.now() + 600_000)).toBe(true);
  });

  test("a used proof is remembered until long after its end, and not for ever", async () => {
    const { clock, store } = await start();
    const untilMs = clock.now() + 600_000;
    await store.useProof("p", untilMs);
    clock.advance(600_000 + proofSlackMs - 1);
    expect(await store.useProof("p", untilMs)).toBe(false);
    clock.advance(120_000);
    expect(await store.useProof("p", untilMs)).toBe(true);
  });
}
