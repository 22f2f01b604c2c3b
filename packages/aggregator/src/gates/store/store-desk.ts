// What the verbs of a store work with, and the two ways they change a gate: by a decision, or by a step only one takes.
import type { Clock } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import type { GateRows } from "./gate-rows.ts";
import type { Gate, GateLimits } from "./gate-store.ts";
import type { GateTimes } from "./gate-times.ts";

export interface StoreDesk {
  rows: GateRows;
  times: GateTimes;
  clock: Clock;
  limits: GateLimits;
  newId: () => string;
}

/** Together with the proof, which is spent by it; throws where it comes too late. */
export function decideAt(
  desk: StoreDesk,
  id: string,
  proofHash: string | undefined,
  change: (gate: Gate) => Gate,
): Gate {
  const { rows, times } = desk;
  return rows.atomically(() => {
    const gate = rows.find(id);
    if (gate === undefined) throw new McpxError("confirmation_unknown");
    const next = change(times.seen(gate));
    if (proofHash !== undefined && !rows.addProof(proofHash)) {
      throw new McpxError("confirmation_used", "this proof was used before");
    }
    save(desk, next);
    return next;
  });
}

/** Only where it is as it should be, which exactly one of many can find. */
export function stepIf(
  desk: StoreDesk,
  id: string,
  isRight: (seen: Gate) => boolean,
  change: (gate: Gate) => Gate,
): boolean {
  const { rows, times } = desk;
  return rows.atomically(() => {
    const gate = rows.find(id);
    if (gate === undefined || !isRight(times.seen(gate))) return false;
    save(desk, change(gate));
    return true;
  });
}

export function isUnderWay({ status }: Gate): boolean {
  return status === "consumed";
}

export function save({ rows, times }: StoreDesk, gate: Gate): void {
  rows.update(gate);
  times.start(gate);
}
