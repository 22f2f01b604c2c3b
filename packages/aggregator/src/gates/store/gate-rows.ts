// What the verbs of gates need of whatever keeps them.
import type { Gate, GateLimits, GateStatus, ListedGate } from "./gate-store.ts";

export interface GateLoad {
  count: number;
  /** Of their arguments. */
  chars: number;
}

type WaitingGate = Pick<Gate, "id" | "principal" | "createdAt" | "expiresAt" | "heldAt"> & { chars: number };

export interface GateRows {
  /** All of the work or nothing of it, durable when it returns, and nobody else's in between. */
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
