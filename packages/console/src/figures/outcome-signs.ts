// Outcomes are told apart by a sign as well as by a colour.
import type { Outcome } from "./decisions.ts";

export const outcomeSigns: Readonly<Record<Outcome, string>> = {
  approved: "✓",
  rejected: "✕",
  expired: "◷",
  withdrawn: "↩",
  waiting: "…",
};

export const outcomeTones: Readonly<Record<Outcome, "good" | "bad" | "odd" | "plain" | "accent">> = {
  approved: "good",
  rejected: "bad",
  expired: "odd",
  withdrawn: "plain",
  waiting: "accent",
};
