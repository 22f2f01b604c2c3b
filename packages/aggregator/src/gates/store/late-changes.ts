// What the store could not be told when it happened, because it was away or its answer was lost. Kept in memory until a
// sweep finds the store there again. [AX-11.3-5]
import type { GateChange, GateRows, Kept } from "./gate-rows.ts";

/** Each has at most one result in it. */
const outcomesMax = 1_000;

/** A change as it is about to be written. */
export type Sent = Pick<GateChange, "from" | "to">;
type Step = (onSending: (sent: Sent) => void) => Promise<boolean>;

export interface LateChanges {
  /** Who is told that this failed sends nothing; the gate may be consumed in the store all the same. */
  consume(id: string, step: Step): Promise<boolean>;
  /** Once more at each sweep, for as long as the store cannot take it. */
  outcome(id: string, step: Step): Promise<boolean>;
  /** Gives back the gates whose outcome is stored now. `undo` ends one that was consumed for nobody. */
  sweep(undo: (kept: Kept) => Promise<void>): Promise<string[]>;
}

export function createLateChanges(rows: Pick<GateRows, "find">): LateChanges {
  const unsent = new Map<string, Sent>();
  const outcomes = new Map<string, { step: Step; sent: Sent | undefined }>();

  async function undoUnsent(undo: (kept: Kept) => Promise<void>): Promise<void> {
    for (const [id, { from, to }] of unsent) {
      const kept = await rows.find(id);
      if (kept?.version === to) await undo(kept);
      // A statement that was given up may be carried out later: as long as it could be, it is looked for.
      if (kept?.version !== from) unsent.delete(id);
    }
  }

  async function storeOutcomes(): Promise<string[]> {
    const stored: string[] = [];
    for (const [id, late] of outcomes) {
      const before = late.sent;
      const isStored = await late.step((sent) => {
        late.sent = sent;
      });
      // The first time may have gone well, and only its answer was lost.
      if (isStored || (await rows.find(id))?.version === before?.to) stored.push(id);
      outcomes.delete(id);
    }
    return stored;
  }

  return {
    async consume(id, step) {
      let sent: Sent | undefined;
      try {
        return await step((about) => {
          sent = about;
        });
      } catch (error) {
        if (sent !== undefined) unsent.set(id, sent);
        throw error;
      }
    },
    async outcome(id, step) {
      let sent: Sent | undefined;
      try {
        return await step((about) => {
          sent = about;
        });
      } catch (error) {
        if (outcomes.size < outcomesMax) outcomes.set(id, { step, sent });
        throw error;
      }
    },
    async sweep(undo) {
      await undoUnsent(undo);
      return storeOutcomes();
    },
  };
}
