import { expect, test } from "vitest";
import { EndedProposals } from "./ended-proposals.ts";

const placeOf = (seq: number, proposer = "hana") => ({ id: `p${seq}`, proposer, seq });

test("[AC-10-2] an open proposal is good for one call, which may be sent again", () => {
  const ended = new EndedProposals(0);
  expect(ended.isEnded(placeOf(1), "call")).toBe(false);
  ended.fulfil(placeOf(1), "call");
  ended.fulfil(placeOf(1), "other");
  expect(ended.isEnded(placeOf(1), "call")).toBe(false);
  expect(ended.isEnded(placeOf(1), "other")).toBe(true);
  expect(ended.isEnded(placeOf(2), "other")).toBe(false);
});

test("[PL-1-1] [AC-10-2] what was withdrawn is over, whatever comes after", () => {
  const ended = new EndedProposals(0);
  ended.withdraw(placeOf(1));
  ended.fulfil(placeOf(1), "call");
  expect(ended.isEnded(placeOf(1), "call")).toBe(true);
});

test("[PL-2-2] [AC-10-2] it is rejected when all it was for have rejected it; others only advise", () => {
  const ended = new EndedProposals(0);
  const targets = ["oven", "stove"];
  for (const by of ["oven", "oven", "mallory"]) ended.reject(placeOf(1), targets, by);
  expect(ended.isEnded(placeOf(1), "call")).toBe(false);
  ended.reject(placeOf(1), targets, "stove");
  expect(ended.isEnded(placeOf(1), "call")).toBe(true);
  ended.reject(placeOf(2), [], "oven");
  expect(ended.isEnded(placeOf(2), "call")).toBe(false);
});

test("[AC-10-2] what is forgotten counts as ended, and what was there before the room was opened", () => {
  const ended = new EndedProposals(3, { perProposerMax: 2, proposersMax: 2 });
  expect([3, 4].map((seq) => ended.isEnded(placeOf(seq), "call"))).toEqual([true, false]);
  for (const seq of [6, 7, 8]) ended.withdraw(placeOf(seq));
  // The first of three is forgotten: whatever is as old, of this proposer alone.
  expect([5, 6, 9].map((seq) => ended.isEnded(placeOf(seq), "call"))).toEqual([true, true, false]);
  expect(ended.isEnded(placeOf(5, "ida"), "call")).toBe(false);
  ended.withdraw(placeOf(10, "ida"));
  ended.withdraw(placeOf(11, "jon"));
  // The first of three proposers is forgotten: whatever is as old as its last.
  expect([7, 8, 9].map((seq) => ended.isEnded(placeOf(seq), "call"))).toEqual([true, true, false]);
  expect([8, 9].map((seq) => ended.isEnded(placeOf(seq, "kim"), "call"))).toEqual([true, false]);
});
