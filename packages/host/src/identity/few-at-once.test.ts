import { expect, test } from "vitest";
import { fewAtOnce } from "./few-at-once.ts";

test("so many run at once, the others in the order they came, also where one fails", async () => {
  const few = fewAtOnce(2);
  const begun: number[] = [];
  const ends = Array.from({ length: 5 }, () => Promise.withResolvers<number>());
  const results = ends.map(({ promise }, i) =>
    few(() => {
      begun.push(i);
      return promise;
    }).catch((error: Error) => error.message),
  );
  expect(begun).toEqual([0, 1]);
  ends[1]?.reject(new Error("one"));
  expect(await results[1]).toBe("one");
  expect(begun).toEqual([0, 1, 2]);
  for (const [i, { resolve }] of ends.entries()) resolve(i);
  expect(await Promise.all(results)).toEqual([0, "one", 2, 3, 4]);
  expect(begun).toEqual([0, 1, 2, 3, 4]);
});

test("who asks for much waits behind itself: others have their turn after one of its pieces", async () => {
  const few = fewAtOnce(1);
  const done: string[] = [];
  const ask = (asker: string) => few(async () => void done.push(asker), asker);
  const crowd = Array.from({ length: 100 }, () => ask("crowd"));
  const others = ["ann", "bob", "ann"].map(ask);
  await Promise.all([...crowd, ...others]);
  expect(done.indexOf("ann")).toBeLessThan(4);
  expect(done.indexOf("bob")).toBeLessThan(5);
  expect(done.lastIndexOf("ann")).toBeLessThan(8);
  expect(done).toHaveLength(103);
  // Control: in one line it would be the last.
  const alone: number[] = [];
  await Promise.all(Array.from({ length: 100 }, (_, n) => few(async () => void alone.push(n))));
  expect(alone.at(-1)).toBe(99);
});
