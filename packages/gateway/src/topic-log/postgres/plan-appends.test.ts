import { expect, test } from "vitest";
import { newEntry } from "../cases.ts";
import { type Head, planAppends } from "./plan-appends.ts";

const heads: Record<string, Head> = {
  room: { key: 1, last: 10, lastAt: 5_000, bytes: 1_000, epoch: 3 },
  other: { key: 2, last: 0, lastAt: 0, bytes: 0, epoch: 0 },
};
const headOf = (topic: string) => heads[topic] as Head;

test("seqs, times and bytes go on from where each topic ends", () => {
  const entries = [
    newEntry({ id: "a", at: 4_000 }),
    newEntry({ id: "b", at: 6_000, text: "ü" }),
    newEntry({ id: "a", topic: "other" }),
  ];
  const { appended, rows, heads: moved } = planAppends(entries, headOf, new Map());
  expect(appended).toEqual([
    { outcome: "appended", seq: 11, at: 5_000 },
    { outcome: "appended", seq: 12, at: 6_000 },
    { outcome: "appended", seq: 1, at: 1_000 },
  ]);
  expect(rows.map(({ topic, seq, at, bytes }) => [topic, seq, at, bytes])).toEqual([
    [1, 11, 5_000, 1_266],
    [1, 12, 6_000, 1_524],
    [2, 1, 1_000, 266],
  ]);
  expect(moved.get("room")).toEqual({
    before: heads.room,
    after: { key: 1, last: 12, lastAt: 6_000, bytes: 1_524, epoch: 3 },
  });
});

test("[X0-4-3] an id that is stored, or planned a moment ago, takes no seq; its topic's head is written all the same", () => {
  const stored = { seq: 3, at: 2_000, from: "ada", digest: "digest of old" };
  const earlier = new Map([["room", new Map([["old", stored]])]]);
  const entries = [
    newEntry({ id: "old" }),
    newEntry({ id: "old", from: "bob" }),
    newEntry({ id: "old", topic: "other" }),
    newEntry({ id: "old", topic: "other" }),
  ];
  const { appended, rows, heads: moved } = planAppends(entries, headOf, earlier);
  expect(appended).toEqual([
    { outcome: "duplicate", seq: 3, at: 2_000 },
    { outcome: "conflict" },
    { outcome: "appended", seq: 1, at: 1_000 },
    { outcome: "duplicate", seq: 1, at: 1_000 },
  ]);
  expect(rows).toHaveLength(1);
  expect(moved.get("room")).toEqual({ before: heads.room, after: heads.room });
});

test("of a topic that another gateway owns nothing is written; the others are", () => {
  const entries = [newEntry({ id: "a" }), newEntry({ id: "b", topic: "theirs" })];
  const { appended, rows, heads: moved } = planAppends(entries, headOf, new Map());
  expect(appended).toEqual([{ outcome: "appended", seq: 11, at: 5_000 }, { outcome: "fenced" }]);
  expect([rows.length, [...moved.keys()]]).toEqual([1, ["room"]]);
});
