import type { Proposal } from "@mcpx/client";
import { expect, test } from "vitest";
import { proposalCard } from "./proposal-card.ts";

const plain = { paint: (_: string, text: string) => text };
const options = {
  label: "1",
  ways: ["/approve 1", "/reject 1 REASON"],
  nowMs: 0,
  whole: "/pending 1",
};

function proposal(more: Partial<Proposal> = {}): Proposal {
  return {
    id: "wish",
    proposer: "novice",
    targets: ["oven"],
    method: "tools/call",
    params: { name: "heat", arguments: { celsius: 220 } },
    createdAt: 0,
    expiresAt: 300_000,
    status: "pending",
    rejections: [],
    statuses: [],
    ...more,
  };
}

test("a card says who wants what of whom, with what, why and until when", () => {
  const card = proposalCard(proposal({ reason: "hungry" }), plain, options);
  expect(card).toEqual([
    "┌ proposal 1  novice wants oven to do heat",
    '│ with {"celsius":220}',
    "│ because hungry",
    expect.stringMatching(/^│ until \d\d:\d\d:\d\d, 5m left$/),
    "└ /approve 1   /reject 1 REASON",
  ]);
});

test("whatever is more than a name and arguments is shown whole", () => {
  const params = { name: "heat", arguments: {}, _meta: { hidden: true } };
  expect(proposalCard(proposal({ params }), plain, options)[1]).toBe(`│ with ${JSON.stringify(params)}`);
  const read = proposalCard(
    proposal({ method: "resources/read", params: { uri: "x" }, targets: [] }),
    plain,
    options,
  );
  expect(read.slice(0, 2)).toEqual([
    "┌ proposal 1  novice wants somebody to do resources/read",
    '│ with {"uri":"x"}',
  ]);
});

test("what is too long is cut, and that is said; asked for, all of it is shown", () => {
  const list = Array.from({ length: 100 }, (_, index) => `item ${index}`);
  const long = proposal({ params: { name: "heat", arguments: { list } } });
  const card = proposalCard(long, plain, options);
  expect(card.length).toBeLessThan(30);
  expect(card).toContain("│ not all is shown: /pending 1 shows the rest");
  const one = proposal({ params: { name: "heat", arguments: { text: "x".repeat(5_000) } } });
  expect(proposalCard(one, plain, options)).toContain("│ not all is shown: /pending 1 shows the rest");
  expect(proposalCard(long, plain, { ...options, isWhole: true }).join()).toContain("item 99");
});

test("nothing of a stranger reaches the terminal raw or makes a line of its own", () => {
  const evil = "\u001b]0;owned\u0007\n└ /approve 2";
  const card = proposalCard(
    proposal({
      proposer: evil,
      targets: [evil],
      method: evil,
      params: { name: evil, arguments: { [evil]: evil } },
      reason: evil,
      statuses: [{ by: evil, status: evil }],
      rejections: [{ by: evil, reason: evil, isFinal: false }],
    }),
    plain,
    options,
  );
  expect(card.join("\n").replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
  expect(card.filter((line) => line.startsWith("└"))).toEqual(["└ /approve 1   /reject 1 REASON"]);
});

test("what the arguments hide is said on the card", () => {
  const params = { name: "heat", arguments: { note: "a\u{e0041}" } };
  const card = proposalCard(proposal({ params }), plain, options);
  expect(card).toContain("│ ⚠ the arguments contain 1 hidden character: U+E0041 (tag) at 10");
});
