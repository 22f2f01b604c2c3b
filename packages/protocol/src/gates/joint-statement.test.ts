import { expect, test } from "vitest";
import type { GateTerms } from "./gate.ts";
import { jointStatementOf, ownStatement, readGatesBelow, readJointStatement } from "./joint-statement.ts";

const digest = `sha256:${"A".repeat(43)}`;
const gate = (name: string, asker: string, more: Partial<GateTerms> = {}): GateTerms => ({
  version: 2,
  confirmation_id: `gate-${name}`,
  aggregator_id: `tree-${name}`,
  asker,
  server: { name: "s", identity: "stdio:x", tool: "wipe", definition: digest },
  route: ["b", "s", "wipe"],
  tool: "s.wipe",
  arguments_digest: digest,
  nonce: name.repeat(16),
  expires_at: 1_800_000_000,
  ...more,
});
const top = gate("t", "agent");
const low = gate("l", "tree/agent");

test("[AX-11.3-8] a statement about two gates has all terms of both, and each finds its own", () => {
  const statement = readJointStatement(JSON.parse(JSON.stringify(jointStatementOf([top, low]))));
  expect(statement.gates).toEqual([top, low]);
  expect(ownStatement(statement, low)).toEqual({ ...low, decision: "approve" });
  expect(ownStatement(statement, { ...low, aggregator_id: "tree-t" })).toBeUndefined();
  expect(ownStatement(statement, { ...low, confirmation_id: "gate-x" })).toBeUndefined();
});

test.each([
  ["too few", [top]],
  ["too many", Array.from("abcde", (name, index) => gate(name, `${"x/".repeat(index)}agent`))],
  ["one id twice", [top, { ...low, confirmation_id: top.confirmation_id }]],
  ["one tree twice", [top, { ...low, aggregator_id: top.aggregator_id }]],
  ["one nonce twice", [top, { ...low, nonce: top.nonce }]],
  ["an asker that only ends alike", [top, { ...low, asker: "treeagent" }]],
  ["another route", [top, { ...low, route: ["s", "wipe"] }]],
  ["no asker", [top, { ...low, version: undefined, asker: undefined, server: undefined }]],
  ["a result", [top, { ...low, phase: "result" as const, result_digest: digest }]],
])("[AX-11.3-8] no statement about several gates: %s", (_, gates) => {
  expect(() => jointStatementOf(gates as GateTerms[])).toThrow(
    expect.objectContaining({ code: "bad_proof" }),
  );
});

test("what a tree below tells is read whole or not at all", () => {
  expect(readGatesBelow([])).toEqual([]);
  expect(readGatesBelow([low])).toEqual([low]);
  for (const told of [undefined, {}, [null], [{ ...low, decision: "approve" }], [{ ...low, more: 1 }]]) {
    expect(() => readGatesBelow(told)).toThrow(expect.objectContaining({ code: "bad_proof" }));
  }
});
