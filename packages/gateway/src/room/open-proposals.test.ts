import { expect, test } from "vitest";
import { type OpenProposal, OpenProposals } from "./open-proposals.ts";

const proposal = (id: string, more: Partial<OpenProposal> = {}): OpenProposal => ({
  topic: "t",
  id,
  seq: 1,
  proposer: "agent",
  targets: ["robot"],
  method: "tools/call",
  tool: "heat",
  digest: "d",
  openedAt: 0,
  expiresAt: 100,
  rejectedBy: new Set(),
  ...more,
});

test("[B-AUDIT-1] a proposal is open until it ends or its time is over, in its topic only", () => {
  const open = new OpenProposals();
  const one = proposal("a");
  open.add(one);
  expect(open.find("t", "a", 100)).toBe(one);
  expect(open.find("t", "a", 101)).toBeUndefined();
  expect(open.find("other", "a", 1)).toBeUndefined();
  expect(open.expire(100)).toEqual([]);
  expect(open.expire(101)).toEqual([one]);
  expect(open.expire(101)).toEqual([]);
});

test("[B-AUDIT-1] the no of every target rejects, any other is advice, and each is heard once", () => {
  const open = new OpenProposals();
  const one = proposal("a", { targets: ["robot", "oven"] });
  open.add(one);
  expect(open.reject(one, "human")).toBe("advice");
  expect(open.reject(one, "human")).toBeUndefined();
  expect(open.reject(one, "robot")).toBe("advice");
  expect(open.reject(one, "oven")).toBe("rejected");
  const untargeted = proposal("b", { targets: [] });
  expect(open.reject(untargeted, "human")).toBe("advice");
});

test("[B-AUDIT-1] voices against a proposal are bounded, and those of its targets are heard all the same", () => {
  const open = new OpenProposals();
  const one = proposal("a");
  const heard = Array.from({ length: 150 }, (_, i) => open.reject(one, `p${i}`));
  expect(heard.filter((word) => word === "advice")).toHaveLength(100);
  expect(open.reject(one, "robot")).toBe("rejected");
});

test("[B-AUDIT-1] one proposer fills its own share alone, and all of them a bound", () => {
  const open = new OpenProposals({ max: 4, perProposerMax: 2 });
  open.add(proposal("other", { proposer: "other" }));
  for (const id of ["a", "b", "c"]) open.add(proposal(id));
  expect(open.find("t", "a", 1)).toBeUndefined();
  expect(open.find("t", "other", 1)).toBeDefined();
  for (const id of ["d", "e"]) open.add(proposal(id, { proposer: id }));
  expect(open.size).toBe(4);
  expect(open.find("t", "other", 1)).toBeUndefined();
});

test("[X0-5.3-1] those that wait are told by topic, the oldest first, and no more than asked for", () => {
  const open = new OpenProposals();
  open.add(proposal("a", { seq: 3 }));
  open.add(proposal("b", { seq: 5, topic: "other" }));
  open.add(proposal("c", { seq: 7, expiresAt: 10 }));
  open.add(proposal("d", { seq: 9 }));
  expect(open.waiting(11, 10)).toEqual(
    new Map([
      [
        "t",
        [
          { id: "a", seq: 3 },
          { id: "d", seq: 9 },
        ],
      ],
      ["other", [{ id: "b", seq: 5 }]],
    ]),
  );
  expect(open.waiting(11, 1).get("t")).toEqual([{ id: "a", seq: 3 }]);
  expect(open.waiting(101, 10).size).toBe(0);
});
