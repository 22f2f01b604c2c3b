// What differs from the last call of the same tool that was approved for the same caller. Nobody else's: whoever asks
// may look at this page too.
import { type ArgumentChange, argumentDiff, parseExact } from "@mcpx/protocol";
import type { Gate, GateStore } from "../gate-store.ts";

export interface LastApproved {
  at: string;
  by: string[];
  /** `- /path: value` and `+ /path: value`; empty where the arguments are the same. */
  changes: string[];
}

export async function lastApproved(store: GateStore, gate: Gate): Promise<LastApproved | undefined> {
  const last = await store.findLast(gate, gate.principal);
  if (last === undefined) return undefined;
  const { changes, more } = argumentDiff(parseExact(last.argumentsText), parseExact(gate.argumentsText));
  return {
    at: new Date(last.settledAt ?? last.createdAt).toISOString(),
    by: last.approvals.map(({ by }) => by),
    changes: [...changes.flatMap(linesOf), ...(more === 0 ? [] : [`… and ${more} more changes`])],
  };
}

function linesOf({ path, old, new: now }: ArgumentChange): string[] {
  return [
    ...(old === undefined ? [] : [`- ${path}: ${old}`]),
    ...(now === undefined ? [] : [`+ ${path}: ${now}`]),
  ];
}
