// The two transactions that change a gate: a decision with its proof, and a step that exactly one of several may take.
// They work on the rows of any database that keeps gates.
import type { Clock } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import type { Gate, GateLimits, GateStatus, ListedGate } from "./gate-store.ts";
import type { GateTimes } from "./gate-times.ts";

export interface GateLoad {
  count: number;
  /** Of their arguments. */
  chars: number;
}

type WaitingGate = Pick<Gate, "id" | "principal" | "createdAt" | "expiresAt" | "heldAt"> & { chars: number };

export interface GateRows {
  /** One transaction: all of the work or none, durable when it returns, isolated from others. */
  atomically<T>(work: () => T): T;
  insert(gate: Gate): void;
  find(id: string): Gate | undefined;
  /** Status, approvals, result and the like. What the caller wants never changes, and is not written again. */
  update(gate: Gate): void;
  newest(principal: string, tool: string, digest: string): Gate | undefined;
  /** Of this tool, done, and made before this one; of one principal or of all. */
  newestDone(before: Pick<Gate, "id" | "tool">, principal: string | undefined): Gate | undefined;
  /** Newest first, `listMax` at most. */
  list(status: GateStatus | undefined): ListedGate[];
  waiting(): WaitingGate[];
  /** Of one principal, or of all. */
  waitingLoad(principal: string | undefined): GateLoad;
  /** Forgets finished gates beyond these bounds, and says which. */
  prune(limits: Pick<GateLimits, "finishedMax" | "finishedCharsMax">): string[];
  /** False where it is there already. */
  addProof(hash: string): boolean;
}

export interface GateStoreParts {
  rows: GateRows;
  times: GateTimes;
  clock: Clock;
  limits: GateLimits;
  newId: () => string;
}

/** Changes the gate and marks the proof as used; throws where the decision comes too late. */
export function decideAt(
  parts: GateStoreParts,
  id: string,
  proofHash: string | undefined,
  change: (gate: Gate) => Gate,
): Gate {
  const { rows, times } = parts;
  return rows.atomically(() => {
    const gate = rows.find(id);
    if (gate === undefined) throw new McpxError("confirmation_unknown");
    const next = change(times.seen(gate));
    if (proofHash !== undefined && !rows.addProof(proofHash)) {
      throw new McpxError("confirmation_used", "this proof was used before");
    }
    save(parts, next);
    return next;
  });
}

/** Changes the gate only where `isRight` holds; of several that try at once exactly one returns true. */
export function stepIf(
  parts: GateStoreParts,
  id: string,
  isRight: (seen: Gate) => boolean,
  change: (gate: Gate) => Gate,
): boolean {
  const { rows, times } = parts;
  return rows.atomically(() => {
    const gate = rows.find(id);
    if (gate === undefined || !isRight(times.seen(gate))) return false;
    save(parts, change(gate));
    return true;
  });
}

export function isUnderWay({ status }: Gate): boolean {
  return status === "consumed";
}

export function save({ rows, times }: GateStoreParts, gate: Gate): void {
  rows.update(gate);
  times.start(gate);
}
