import { expect, test } from "vitest";
import { createEventOutbox } from "./event-outbox.ts";

const numbered = (number: number) => ({ number });

test("[AX-12-2] events wait in their order; of more than 16 the oldest are dropped, and that is said", () => {
  const outbox = createEventOutbox(100);
  const said = Array.from({ length: 18 }, (_, at) => outbox.put(numbered(at), 0));
  expect(said.filter((one) => one !== undefined)).toEqual([
    "more than 16 events before the tree could be told",
    "more than 16 events before the tree could be told",
  ]);
  expect(outbox.take()).toEqual(Array.from({ length: 16 }, (_, at) => numbered(at + 2)));
  expect(outbox.take()).toEqual([]);
});

test("[AX-10.4-1] no second has more than the limit, and the next one has room again", () => {
  const outbox = createEventOutbox(2);
  const putAt = (nowMs: number) => outbox.put(numbered(nowMs), nowMs);
  expect([5_000, 5_001, 5_999, 6_000].map(putAt)).toEqual([
    undefined,
    undefined,
    "more than 2 events in a second",
    undefined,
  ]);
  expect(outbox.take()).toEqual([5_000, 5_001, 6_000].map(numbered));
});
