import { expect, test } from "vitest";
import { inTurn } from "./in-turn.ts";

test("however often it is wanted, one is under way and at most one comes after it", async () => {
  const ends: (() => void)[] = [];
  const work = inTurn(() => new Promise<void>((resolve) => ends.push(resolve)));
  const all = Array.from({ length: 300 }, () => work());
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await expect.poll(() => ends.length).toBe(2);
  ends[1]?.();
  await Promise.all(all);
  expect(ends).toHaveLength(2);
  // And again, once it is wanted again.
  void work();
  expect(ends).toHaveLength(3);
});

test("what fails is told, and does not stop what comes later", async () => {
  let count = 0;
  const work = inTurn(async () => {
    count += 1;
    if (count === 1) throw new Error("away");
  });
  await expect(work()).rejects.toThrow("away");
  await work();
  expect(count).toBe(2);
});
