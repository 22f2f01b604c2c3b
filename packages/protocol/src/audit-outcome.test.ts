import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { auditOutcome, auditOutcomes } from "./audit-outcome.ts";

test("[B-AUDIT-1] a rejection is red and an expiry is not allowed", () => {
  expect(auditOutcome({ action: "gate.reject" })).toEqual({ label: "rejected", tone: "bad" });
  expect(auditOutcome({ action: "proposal.rejected" })).toEqual({ label: "rejected", tone: "bad" });
  for (const action of ["gate.expired", "proposal.expired"]) {
    expect(auditOutcome({ action })).toEqual({ label: "expired", tone: "odd" });
  }
  expect(auditOutcome({ action: "gate.approve" })).toEqual({ label: "approved", tone: "good" });
});

test("[B-AUDIT-1] a record with a reason was refused, whatever it is about", () => {
  expect(auditOutcome({ action: "tool.call", reason: "unknown_tool" })).toEqual({
    label: "refused: unknown_tool",
    tone: "bad",
  });
  for (const reason of [undefined, null, ""]) {
    expect(auditOutcome({ action: "tool.call", reason })).toEqual({ label: "allowed", tone: "good" });
  }
});

test("[B-AUDIT-1] of an action nobody knows no success is claimed", () => {
  for (const action of ["something.new", "toString", undefined]) {
    expect(auditOutcome({ action }).tone).toBe("plain");
  }
});

/** What the sources write into the audit, by their own words. */
function writtenActions(): string[] {
  const packages = join(import.meta.dirname, "../..");
  const sources = ["host", "gateway", "aggregator", "cli"].flatMap((name) =>
    readdirSync(join(packages, name, "src"), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && !/test|testing|cases/.test(file))
      .map((file) => readFileSync(join(packages, name, "src", file), "utf8")),
  );
  const actions = sources.flatMap((text) => [
    ...[...text.matchAll(/action(?::| =)[^\n,;]*?"([a-z_]+\.[a-z_]+)"/g)].map(([, name = ""]) => name),
    ...[...text.matchAll(/\? "([a-z_]+\.[a-z_]+)" : "([a-z_]+\.[a-z_]+)"/g)].flatMap(([, a = "", b = ""]) => [
      a,
      b,
    ]),
    ...[...text.matchAll(/gateEvent\("([a-z_]+)"/g)].map(([, name = ""]) => `gate.${name}`),
    ...[...text.matchAll(/\brecord\("([a-z_]+)"/g)].map(([, name = ""]) => `proposal.${name}`),
  ]);
  const statuses = readFileSync(join(packages, "aggregator/src/gates/store/gate-store.ts"), "utf8");
  const [, union = ""] = /export type GateStatus =([^;]*);/.exec(statuses) ?? [];
  const ends = [...union.matchAll(/"([a-z]+)"/g)].map(([, name = ""]) => `gate.${name}`);
  // Actions of levels have nothing to do with it.
  return [...new Set([...actions, ...ends])].filter((action) => !action.startsWith("mcp.")).sort();
}

test("[B-AUDIT-1] every action that is written has its word in the table", () => {
  const written = writtenActions();
  // The control: it has read something.
  expect(written).toEqual(expect.arrayContaining(["gate.reject", "gate.expired", "gate.panic", "tool.call"]));
  expect(written).toEqual(expect.arrayContaining(["proposal.expired", "proposal.withdrawn", "token.issue"]));
  expect(written.filter((action) => !Object.hasOwn(auditOutcomes, action))).toEqual([]);
});
