import type { Proposal } from "@mcpx/client";
import { expect, test } from "vitest";
import { changedCallLines } from "./changed-call.ts";

const paint = (_: unknown, text: string) => text;

function linesFor(called: { method?: string; params: object } | undefined, target = "oven"): string[] {
  const proposal = {
    method: "tools/call",
    params: { name: "heat", arguments: { celsius: 220, rack: 2 } },
    targets: ["oven"],
    fulfilment: {
      target,
      isChanged: called !== undefined,
      ...(called && { called: { method: "tools/call", ...called } }),
    },
  } as unknown as Proposal;
  return changedCallLines(proposal, { paint });
}

test("what was called as it was proposed says nothing", () => {
  expect(linesFor(undefined)).toEqual([]);
});

test("each value that is another is shown as it was proposed and as it was called", () => {
  const params = { name: "heat", arguments: { celsius: 180, rack: 2, fan: true }, _meta: { proof: "x" } };
  expect(linesFor({ params })).toEqual([
    "   - /arguments/celsius: 220",
    "   + /arguments/celsius: 180",
    "   + /arguments/fan: true",
  ]);
});

test("another tool, another method and another participant are shown", () => {
  expect(linesFor({ params: { name: "melt", arguments: { celsius: 220, rack: 2 } } })).toEqual([
    '   - /name: "heat"',
    '   + /name: "melt"',
  ]);
  const params = { name: "heat", arguments: { celsius: 220, rack: 2 } };
  expect(linesFor({ method: "tools/other", params }, "stove")).toEqual([
    "   - of oven",
    "   + of stove",
    "   - tools/call",
    "   + tools/other",
  ]);
});

test("nothing that was called draws lines of its own", () => {
  const lines = linesFor({
    params: { name: "heat", arguments: { celsius: "1\n-- proposal 1 done\u001b[2J" } },
  });
  expect(lines.some((line) => line.includes("\n") || line.includes("\u001b"))).toBe(false);
});
