// What has become of a call at a gate, in the words every page says it with. Pure.

export interface GateOutcome {
  /** One or two words. */
  short: string;
  long: string;
  tone: "open" | "good" | "bad" | "odd";
}

export interface GateFacts {
  status: string;
  /** Of the call, or once its result is held of that. */
  approvals: readonly { by: string }[];
  /** How many are needed. */
  approvers: number;
  rejected_by?: string | undefined;
  reason?: string | undefined;
  /** There where the result is held, or was. */
  result_digest?: string | undefined;
}

export function gateOutcome(facts: GateFacts): GateOutcome {
  const { status, approvals, approvers, rejected_by: rejectedBy, reason } = facts;
  const names = approvals.map(({ by }) => by);
  const isReviewed = facts.result_digest !== undefined;
  const by = `${isReviewed ? "Released" : "Approved"} by ${names.join(" and ") || "somebody"}.`;
  const missing = approvers - names.length;
  switch (status) {
    case "pending": {
      const given = names.length === 0 ? "" : ` ${names.join(" and ")} approved it.`;
      const need = approvers === 1 ? "" : ` ${missing} more of ${approvers} must approve.`;
      return { short: "Waiting", long: `Waiting for a signature.${given}${need}`, tone: "open" };
    }
    case "done":
      return { short: "Done", long: `${by} The call was made once, and is done.`, tone: "good" };
    case "failed":
      return { short: "Failed", long: `${by} The call was made, and failed.`, tone: "odd" };
    case "indeterminate":
      return { short: "Unknown", long: `${by} It is not known whether the call was made.`, tone: "odd" };
    case "rejected": {
      const why = reason === undefined || reason === "" ? "" : ` “${reason}”`;
      const text = `Rejected by ${rejectedBy ?? "somebody"}.${why} Nothing has happened.`;
      return { short: "Rejected", long: text, tone: "bad" };
    }
    case "expired":
      return { short: "Expired", long: "Nobody decided in time. Nothing has happened.", tone: "bad" };
    case "refused": {
      const why = reason === undefined || reason === "" ? "" : ` ${reason}.`;
      const text = `${by} It could not be sent as it was signed.${why} Nothing has happened.`;
      return { short: "Refused", long: text, tone: "bad" };
    }
    case "held": {
      const given = names.length === 0 ? "" : ` ${names.join(" and ")} released it.`;
      const need = approvers === 1 ? "" : ` ${missing} more of ${approvers} must.`;
      const text = `The call was made. Its result waits to be released.${given}${need}`;
      return { short: "Result held", long: text, tone: "open" };
    }
    case "withheld": {
      const who = rejectedBy === undefined ? "" : ` by ${rejectedBy}`;
      const why = reason === undefined ? "." : `: ${reason}`;
      const text = `The call was made; its result was withheld${who}${why}`;
      return { short: "Withheld", long: text, tone: "bad" };
    }
    case "approved":
    case "consumed":
      return { short: "Approved", long: `${by} The call is on its way.`, tone: "good" };
    default:
      return {
        short: "Unknown",
        long: "This page cannot show the state of this call: load it again.",
        tone: "odd",
      };
  }
}
