import type { Proposal, Room } from "@mcpx/client";
import { expect, test } from "vitest";
import { findPending } from "./decide-proposal.ts";

function roomWith(...ids: string[]): Room {
  const all = ids.map((id) => ({ id, status: "pending" }) as Proposal);
  const get = (id: string) => all.find((one) => one.id === id);
  return { topic: "demo", proposals: { get, all: () => all } } as unknown as Room;
}

const long = "98ed0c5f1b2a43d7a8e96f7c5b4a3d2e";

test.each([
  ["its id", [long, "other"], long, long],
  ["a clear beginning", [long, "other"], "98ed", long],
  ["a short id of its own", ["p1", "p12"], "p1", "p1"],
  ["an id that somebody has made a longer one of", [long, `${long}-more`], long, long],
])("a proposal is found by %s", (_how, ids, given, found) => {
  expect(findPending(roomWith(...ids), given, "approved").id).toBe(found);
});

test.each([
  ["the beginning of two", [long, "98ed-other"]],
  ["what somebody has named to catch a beginning", [long, "98ed"]],
])("%s is refused", (_what, ids) => {
  expect(() => findPending(roomWith(...ids), "98ed", "approved")).toThrow(/several ids start with 98ed/);
});

test("too short a beginning finds nothing", () => {
  expect(() => findPending(roomWith(long), "98e", "approved")).toThrow(/no open or recent proposal/);
});
