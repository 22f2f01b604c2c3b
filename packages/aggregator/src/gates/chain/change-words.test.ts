import { expect, test } from "vitest";
import { sentencesOf } from "./change-words.ts";

test("[B-KEY-2] a change is worded as it was for those who have signed one before: their digests hold these words", () => {
  const jwk = { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" };
  const key = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k";
  const before = new Map<string, unknown>([["approver/old", { name: "old", jwk }]]);
  const changes: [string, unknown][] = [
    ["approver/alice", { name: "alice", jwk }],
    ["approver/old", { name: "old", jwk }],
    ["approver/old", null],
    ["panic", true],
    ["panic", null],
    ["unpinned", true],
    ["unpinned", null],
    ["rules", { rules: [{}, {}], unannotated: "allow", quorum: 2 }],
    ["rules", { rules: [{}], unannotated: "ask", quorum: 1 }],
    ["rules", null],
  ];
  const told = sentencesOf(before as never, changes.map(([name, value]) => ({ key: name, value })) as never);
  expect(told).toEqual([
    `alice may approve, with the key ${key}`,
    `old approves with another key, with the key ${key}`,
    "old approves nothing any more",
    "panic: every call waits for a human",
    "panic is over: the rules count again",
    "tools that have changed do not wait any more",
    "changed tools wait again",
    "2 rules decide; tools that say nothing of themselves are let through; 2 must approve",
    "1 rule decides; what is unknown is asked for; 1 must approve",
    "the rules are gone",
  ]);
});
