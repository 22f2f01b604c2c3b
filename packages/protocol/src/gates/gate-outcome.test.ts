import { expect, test } from "vitest";
import { gateOutcome } from "./gate-outcome.ts";

const approvals = [{ by: "anna", at: "2030-01-01T00:00:00.000Z" }];

test("what became of a call says who decided", () => {
  const base = { approvals, approvers: 1 };
  expect(gateOutcome({ ...base, status: "done" }).long).toContain("Approved by anna.");
  expect(gateOutcome({ ...base, status: "indeterminate" }).long).toContain("not known");
  expect(gateOutcome({ status: "pending", approvals, approvers: 3 }).long).toBe(
    "Waiting for a signature. anna approved it. 2 more of 3 must approve.",
  );
  expect(
    gateOutcome({ status: "rejected", approvals: [], approvers: 1, rejected_by: "ben", reason: "no" }).long,
  ).toBe("Rejected by ben. “no” Nothing has happened.");
  expect(gateOutcome({ status: "expired", approvals: [], approvers: 1 }).long).toContain("Nobody decided");
});
