import { expect, test } from "vitest";
import { createTouch } from "./cell.ts";

test("many touches are one piece of work, the next not before its time", () => {
  const waits: number[] = [];
  let due = () => {};
  let done = 0;
  const touch = createTouch(
    () => {
      done += 1;
    },
    (work, waitMs) => {
      waits.push(waitMs);
      due = work;
    },
    60_000,
  );
  touch();
  touch();
  expect(waits).toEqual([0]);
  due();
  expect(done).toBe(1);
  touch();
  touch();
  expect(waits).toHaveLength(2);
  expect(waits[1]).toBeGreaterThan(50_000);
  due();
  expect(done).toBe(2);
});
