// What a store of gates keeps its rows in; siblings in `state.db` and on PostgreSQL. A change names the version it was
// made from, and comes to nothing where the row has another one by now: no transaction stays open between two steps.
import { randomInt } from "node:crypto";
import type { Gate, GateLimits, GateStatus, ListedGate, SameCall } from "./gate-store.ts";

export interface GateLoad {
  count: number;
  /** Characters of the arguments. */
  chars: number;
}

type WaitingGate = Pick<Gate, "id" | "principal" | "createdAt" | "expiresAt" | "heldAt"> & { chars: number };

/** A gate as it was read. */
export interface Kept<T extends ListedGate = Gate> {
  readonly gate: T;
  /** Drawn at random with every change: its writer knows it again. */
  readonly version: number;
}

export interface GateChange<T extends ListedGate = Gate> {
  readonly gate: T;
  /** The version it was made from, and the one it becomes. */
  readonly from: number;
  readonly to: number;
}

/** What is looked at before one more gate is opened. */
export interface Opening {
  /** How many were opened so far. */
  readonly turn: number;
  readonly newest: Kept | undefined;
  /** What waits, of this principal and of all. */
  readonly own: GateLoad;
  readonly all: GateLoad;
}

export interface GateRows {
  find(id: string): Promise<Kept | undefined>;
  look(wish: SameCall): Promise<Opening>;
  /** Of this tool, done, and made before this one; of one principal or of all. */
  newestDone(before: Pick<Gate, "id" | "tool">, principal: string | undefined): Promise<Gate | undefined>;
  /** Newest first, `listMax` at most. */
  list(status: GateStatus | undefined): Promise<ListedGate[]>;
  waiting(): Promise<WaitingGate[]>;
  /** Gates without their large texts. */
  findAll(ids: readonly string[]): Promise<Kept<ListedGate>[]>;
  /**
   * Of this status, last changed by a gateway that is neither this one nor among these; `listMax` at most. What was
   * approved because it waits for nobody is not lost: it goes when it is asked for again.
   */
  lost(status: GateStatus, living: readonly string[]): Promise<Kept<ListedGate>[]>;
  /**
   * Forgets finished gates beyond the bounds and says which; `undefined` where another gate was opened since this turn.
   * Durable when it resolves, as is every change.
   */
  insert(
    gate: Gate,
    turn: number,
    bounds: Pick<GateLimits, "finishedMax" | "finishedCharsMax">,
  ): Promise<string[] | undefined>;
  /** Status, approvals, result and the like. What the caller wants never changes, and is not written again. */
  replace(change: GateChange, proofHash?: string): Promise<"replaced" | "moved" | "proof_used">;
  /** As many as have not changed meanwhile: their ids. They lose their results. */
  end(changes: readonly GateChange<ListedGate>[]): Promise<ReadonlySet<string>>;
  /** False where it is there already. */
  addProof(hash: string): Promise<boolean>;
}

export function newVersion(): number {
  return randomInt(1, 2 ** 47);
}
