// What differs from the last call of the same tool that was approved for the same caller. Nobody else's: an asker
// may look at this page too.
import { type ArgumentDiff, argumentDiff, parseExact } from "@mcpx/protocol";
import type { Gate, GateStore } from "../store/gate-store.ts";

export interface LastApproved extends ArgumentDiff {
  at: string;
  by: string[];
}

export async function lastApproved(store: GateStore, gate: Gate): Promise<LastApproved | undefined> {
  const last = await store.findLast(gate, gate.principal);
  return last === undefined ? undefined : differenceOf(last, gate);
}

/** `last`: a call of the same tool that was approved before. */
export function differenceOf(last: Gate, { argumentsText }: Gate): LastApproved {
  return {
    at: new Date(last.settledAt ?? last.createdAt).toISOString(),
    by: last.approvals.map(({ by }) => by),
    ...argumentDiff(parseExact(last.argumentsText), parseExact(argumentsText)),
  };
}
