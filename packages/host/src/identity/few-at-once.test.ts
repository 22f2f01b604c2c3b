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
