// The part of a gate that is kept as one JSON text, whatever its row is kept in.
import type { Gate, ListedGate } from "./gate-store.ts";

/** What is never searched for. */
const factNames = [
  "session",
  "keys",
  "server",
  "token",
  "route",
  "below",
  "capability",
  "nonce",
  "why",
  "approvers",
  "approvals",
  "rejectedBy",
  "reason",
  "refusal",
  "holdsResult",
  "isAllowed",
  "isForOneHearer",
  "heldAt",
  "review",
] as const;

export type Facts = Pick<Gate, (typeof factNames)[number]>;

export function factsText(gate: ListedGate): string {
  return JSON.stringify(Object.fromEntries(factNames.map((name) => [name, gate[name]])));
}

export function readFacts(text: string): Facts {
  return JSON.parse(text) as Facts;
}
