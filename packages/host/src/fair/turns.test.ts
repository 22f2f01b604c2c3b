import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createTurns } from "./turns.ts";

/** A clock that work moves by what it costs. */
function scene() {
  let now = 0;
  const turns = createTurns(() => now);
  const done: string[] = [];
  const work = (name: string, ms: number) => () => {
    now += ms;
    done.push(name);
  };
  return {
    turns,
    done,
    work,
    pass: (ms: number) => {
      now += ms;
    },
    now: () => now,
  };
}

test("an account works at once until its slice is used, and goes on in later turns of the loop", async () => {
  const { turns, done, work } = scene();
  const busy = turns.account("busy");
  const atOnce = [1, 2, 3, 4].map((i) => turns.run(busy, work(`${i}`, 0.3)));
  expect(atOnce).toEqual([true, true, false, false]);
  expect(done).toEqual(["1", "2"]);
  for (let i = 0; i < 4; i += 1) await nextTurn();
  expect(done).toEqual(["1", "2", "3", "4"]);
});

test("while others are about its slice is shorter, and as long as before once they have gone", async () => {
  const { turns, done, work, pass } = scene();
  const busy = turns.account("busy");
  const atOnce = () => [1, 2, 3, 4, 5].map((i) => turns.run(busy, work(`${i}`, 0.1)));
  turns.run(turns.account("other"), work("other", 0.1));
  expect(atOnce()).toEqual([true, true, false, false, false]);
  while (done.length < 6) await nextTurn();
  pass(200);
  expect(atOnce()).toEqual([true, true, true, true, true]);
});

test("an account that has used little works at once while another waits", async () => {
  const { turns, done, work } = scene();
  const busy = turns.account("busy");
  for (let i = 0; i < 50; i += 1) turns.run(busy, work("busy", 5));
  expect(done).toEqual(["busy"]);
  expect(turns.run(turns.account("light"), work("light", 0.1))).toBe(true);
  expect(done).toEqual(["busy", "light"]);
});

test("what waits is done one piece a turn, that of the account with the least use first", async () => {
  const { turns, done, work } = scene();
  const names = ["much", "some", "little"];
  const costs = [0.9, 0.8, 0.7];
  for (const [i, name] of names.entries()) turns.run(turns.account(name), work(`${name} 1`, costs[i] ?? 0));
  for (const name of names) turns.run(turns.account(name), work(`${name} 2`, 0.1));
  expect(done).toHaveLength(3);
  await nextTurn();
  expect(done.slice(3)).toEqual(["little 2"]);
  await nextTurn();
  expect(done.slice(3)).toEqual(["little 2", "some 2"]);
  await nextTurn();
  expect(done.slice(3)).toEqual(["little 2", "some 2", "much 2"]);
});

test("what an account wants is done in the order it was wanted, and all of it", async () => {
  const { turns, done, work } = scene();
  const one = turns.account("one");
  const all = Array.from({ length: 200 }, (_, i) => `${i}`);
  for (const [i, name] of all.entries()) turns.run(one, work(name, (i % 7) / 5));
  while (done.length < all.length) await nextTurn();
  expect(done).toEqual(all);
});

test("work is charged up to the end of its callback, microtasks included, and not beyond", async () => {
  const { turns, pass, now } = scene();
  const one = turns.account("one");
  await nextTurn();
  turns.run(one, async () => {
    pass(1);
    await Promise.resolve();
    pass(2);
    await Promise.resolve().then(() => undefined);
    pass(4);
  });
  await nextTurn();
  pass(1_000);
  // One half-life has passed since.
  expect(one.usedMs(now())).toBeCloseTo(3.5, 5);
});

test("a callback that works for two accounts charges each with its own part", async () => {
  const { turns, pass, now } = scene();
  const [one, two] = [turns.account("one"), turns.account("two")];
  turns.charge(one);
  pass(1);
  turns.charge(two);
  pass(5);
  await nextTurn();
  expect(one.usedMs(now())).toBeCloseTo(1, 2);
  expect(two.usedMs(now())).toBe(5);
});

test("a promised turn comes, and what follows it is charged", async () => {
  const { turns, work, pass, now } = scene();
  const one = turns.account("one");
  turns.run(one, work("first", 10));
  const turn = turns.turn(one);
  expect(turn).toBeInstanceOf(Promise);
  await turn;
  pass(6);
  await nextTurn();
  expect(one.usedMs(now())).toBeGreaterThan(15);
  expect(turns.turn(turns.account("other"))).toBeUndefined();
});

test("accounts are forgotten when nothing keeps them, and never while something waits or holds them", async () => {
  const { turns, work, pass } = scene();
  const idle = turns.account("idle");
  const held = turns.account("held");
  held.holds += 1;
  const busy = turns.account("busy");
  pass(60_000);
  turns.run(busy, work("busy", 1));
  await nextTurn();
  expect(turns.account("held")).toBe(held);
  expect(turns.account("busy")).toBe(busy);
  expect(turns.account("idle")).not.toBe(idle);
});

test("a next turn is never the one an account has: many that waited for one thing go on one by one", async () => {
  const { turns, done, work } = scene();
  const one = turns.account("one");
  const many = Array.from({ length: 5 }, async (_, i) => {
    await turns.nextTurn(one);
    work(`${i}`, 1)();
  });
  expect(done).toEqual([]);
  await nextTurn();
  expect(done).toEqual(["0"]);
  turns.run(turns.account("other"), work("other", 0.1));
  await Promise.all(many);
  expect(done).toEqual(["0", "other", "1", "2", "3", "4"]);
});

test("who holds the thread for long rests while others are about, and not where it is alone", async () => {
  const { turns, done, work, pass } = scene();
  const [heavy, light] = [turns.account("heavy"), turns.account("light")];
  turns.run(heavy, work("alone 1", 10));
  turns.run(heavy, work("alone 2", 10));
  await nextTurn();
  expect(done).toEqual(["alone 1", "alone 2"]);
  await nextTurn();
  turns.run(light, work("light 1", 0.1));
  await nextTurn();
  turns.run(heavy, work("heavy 1", 10));
  turns.run(heavy, work("heavy 2", 10));
  await nextTurn();
  for (let i = 0; i < 5; i += 1) {
    pass(5);
    turns.run(light, work("light 2", 0.1));
    await nextTurn();
  }
  expect(done.slice(3)).toEqual(["heavy 1", ...Array(5).fill("light 2")]);
  pass(5);
  turns.run(light, work("light 3", 0.1));
  await nextTurn();
  expect(done.slice(-2)).toEqual(["light 3", "heavy 2"]);
});

test("what waits while its account rests is done though nothing else happens", async () => {
  const turns = createTurns();
  const spin = (ms: number) => () => {
    for (const until = performance.now() + ms; performance.now() < until; );
  };
  turns.run(turns.account("light"), spin(0.1));
  await nextTurn();
  const heavy = turns.account("heavy");
  turns.run(heavy, spin(10));
  const began = performance.now();
  const isRested = await new Promise((resolve) =>
    turns.run(heavy, () => resolve(performance.now() - began >= 25)),
  );
  expect(isRested).toBe(true);
});
