// Runs in the page: what has become of a call, and how long is left, in words. Each stands alone, since its text is
// what the page gets.
import type { CallFacts } from "../facts.ts";

export interface Outcome {
  /** One or two words. */
  short: string;
  long: string;
  tone: "open" | "good" | "bad" | "odd";
}

export function outcomeOf(facts: Pick<CallFacts, OutcomeFacts>): Outcome {
  const { status, approvals, approvers, rejected_by: rejectedBy, reason } = facts;
  const names = approvals.map(({ by }) => by);
  const isReviewed = facts.result_digest !== undefined;
  const by = `${isReviewed ? "Released" : "Approved"} by ${names.join(" and ") || "somebody"}.`;
  switch (status) {
    case "pending": {
      const given = names.length === 0 ? "" : ` ${names.join(" and ")} approved it.`;
      const need = approvers === 1 ? "" : ` ${approvers - names.length} more of ${approvers} must approve.`;
      return { short: "Waiting", long: `Waiting for a decision.${given}${need}`, tone: "open" };
    }
    case "approved":
    case "consumed":
      return { short: "Approved", long: `${by} The call is on its way.`, tone: "good" };
    case "done":
      return { short: "Done", long: `${by} The call was made once, and is done.`, tone: "good" };
    case "failed":
      return { short: "Failed", long: `${by} The call was made, and failed.`, tone: "odd" };
    case "indeterminate":
      return { short: "Unknown", long: `${by} Nobody knows whether the call has happened.`, tone: "odd" };
    case "rejected": {
      const why = reason === undefined || reason === "" ? "" : ` “${reason}”`;
      const text = `Denied by ${rejectedBy ?? "somebody"}.${why} Nothing has happened.`;
      return { short: "Denied", long: text, tone: "bad" };
    }
    case "expired":
      return { short: "Expired", long: "Nobody decided in time. Nothing has happened.", tone: "bad" };
    case "held": {
      const given = names.length === 0 ? "" : ` ${names.join(" and ")} released it.`;
      const need = approvers === 1 ? "" : ` ${approvers - names.length} more of ${approvers} must.`;
      const text = `It has happened. Its result waits for being released.${given}${need}`;
      return { short: "Result held", long: text, tone: "open" };
    }
    case "withheld": {
      const who = rejectedBy === undefined ? "" : ` by ${rejectedBy}`;
      const text = `It has happened; its result was withheld${who}: ${reason ?? ""}`;
      return { short: "Withheld", long: text, tone: "bad" };
    }
    case "withdrawn":
      return { short: "Withdrawn", long: "The caller has taken it back. Nothing has happened.", tone: "bad" };
  }
}

type OutcomeFacts = "status" | "approvals" | "approvers" | "rejected_by" | "reason" | "result_digest";

export function timeLeft(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  const minutes = Math.floor(seconds / 60);
  return `${minutes}:${String(seconds % 60).padStart(2, "0")}`;
}
