// The few facts that a tree keeps for as long as its store lives. Siblings on SQLite and on PostgreSQL.

export interface KeptFacts {
  /** Who this aggregator is: made at the first request, once also where two processes ask at the same time. [AX-5.3-3] */
  aggregatorId(): Promise<string>;
  /**
   * Since when the names of this tree begin with its root segment, in wall clock ms, whole seconds as tokens have them; 0
   * where this store has never served a tree without it. A token from before was written without knowing that: the same
   * glob must not open more than it did. To be asked before anything else is written for the tree: a store with an
   * aggregator id is not new. [AX-3.1-1]
   */
  rootSince(segment: string | undefined, now: number): Promise<number>;
  /** The root segment this store has served last, for commands while no tree runs. */
  storedRoot(): Promise<string | undefined>;
  /** Panic survives a restart and ends only when an operator ends it. Meanwhile every call goes to a gate. */
  isPanic(): Promise<boolean>;
  /** Durable when it resolves. */
  keepPanic(isPanic: boolean): Promise<void>;
}

export function wholeSecond(ms: number): number {
  return Math.floor(ms / 1_000) * 1_000;
}
