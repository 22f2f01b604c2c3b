// What every store does with results that are held.
import { decideAt, type GateStoreParts, isUnderWay, stepIf } from "./gate-change.ts";
import type { Gate, GateStore } from "./gate-store.ts";
import { handedOver, heldBack, isReleased, resultApproved, resultRejected } from "./hold-steps.ts";

type HoldVerbs = Pick<GateStore, "hold" | "approveResult" | "rejectResult" | "handOver">;

export function holding(parts: GateStoreParts): HoldVerbs {
  const { times, clock, limits, late } = parts;
  return {
    async hold(id, outcome, ttlMs) {
      const after = (gate: Gate) => {
        // From here on it has a time of its own.
        times.forget(id);
        return heldBack(gate, outcome, { at: clock.now(), ttlMs, charsMax: limits.resultCharsMax });
      };
      return late.outcome(id, (onSending) => stepIf(parts, id, isUnderWay, after, onSending));
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
