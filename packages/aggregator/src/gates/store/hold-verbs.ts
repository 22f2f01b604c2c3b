// What every store does with results that are held.
import type { GateStore } from "./gate-store.ts";
import { decideAt, type GateStoreParts, isUnderWay, stepIf } from "./gate-transaction.ts";
import { handedOver, heldBack, isReleased, resultApproved, resultRejected } from "./hold-steps.ts";

type HoldVerbs = Pick<GateStore, "hold" | "approveResult" | "rejectResult" | "handOver">;

export function holding(parts: GateStoreParts): HoldVerbs {
  const { times, clock, limits } = parts;
  return {
    async hold(id, outcome, ttlMs) {
      return stepIf(parts, id, isUnderWay, (gate) => {
        // From here on it has a time of its own.
        times.forget(id);
        return heldBack(gate, outcome, { at: clock.now(), ttlMs, charsMax: limits.resultCharsMax });
      });
    },
    async approveResult(id, approval) {
      return decideAt(parts, id, approval.proofHash, (gate) => resultApproved(gate, approval, clock.now()));
    },
    async rejectResult(id, rejection) {
      return decideAt(parts, id, rejection.proofHash, (gate) => resultRejected(gate, rejection, clock.now()));
    },
    async handOver(id) {
      return stepIf(parts, id, isReleased, (gate) => handedOver(gate, clock.now()));
    },
  };
}
