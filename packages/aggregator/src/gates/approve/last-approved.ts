// What differs from the last call of the same tool that was approved for the same caller. Nobody else's: whoever asks
// may look at this page too.
import { isObject, type JsonObject, parseExact } from "@mcpx/protocol";
import { toolDiff } from "../../tool-diff.ts";
import type { Gate, GateStore } from "../gate-store.ts";

export interface LastApproved {
  at: string;
  by: string[];
  /** `- path: value` and `+ path: value`; empty where the arguments are the same. */
  changes: string[];
}

export async function lastApproved(store: GateStore, gate: Gate): Promise<LastApproved | undefined> {
  const done = await store.list({ status: "done" });
  const listed = done.find(
    ({ id, tool, principal, createdAt }) =>
      id !== gate.id && tool === gate.tool && principal === gate.principal && createdAt <= gate.createdAt,
  );
  const last = listed && (await store.find(listed.id));
  if (last === undefined) return undefined;
  return {
    at: new Date(last.settledAt ?? last.createdAt).toISOString(),
    by: last.approvals.map(({ by }) => by),
    changes: toolDiff(argumentsOf(last), argumentsOf(gate)),
  };
}

function argumentsOf({ argumentsText }: Gate): JsonObject {
  const value = parseExact(argumentsText);
  return isObject(value) ? value : { arguments: value };
}
