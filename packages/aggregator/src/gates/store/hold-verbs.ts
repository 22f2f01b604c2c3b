// What every store does with results that are held.
import type { GateStore } from "./gate-store.ts";
import { handedOver, heldBack, isReleased, resultApproved, resultRejected } from "./hold-steps.ts";
import { decideAt, isUnderWay, type StoreDesk, stepIf } from "./store-desk.ts";

type HoldVerbs = Pick<GateStore, "hold" | "approveResult" | "rejectResult" | "handOver">;

export function holding(desk: StoreDesk): HoldVerbs {
  const { times, clock, limits } = desk;
  return {
    async hold(id, outcome, ttlMs) {
      return stepIf(desk, id, isUnderWay, (gate) => {
        // From here on it has a time of its own.
        times.forget(id);
        return heldBack(gate, outcome, { at: clock.now(), ttlMs, charsMax: limits.resultCharsMax });
      });
    },
    async approveResult(id, approval) {
      return decideAt(desk, id, approval.proofHash, (gate) => resultApproved(gate, approval, clock.now()));
    },
    async rejectResult(id, rejection) {
      return decideAt(desk, id, rejection.proofHash, (gate) => resultRejected(gate, rejection, clock.now()));
    },
    async handOver(id) {
      return stepIf(desk, id, isReleased, (gate) => handedOver(gate, clock.now()));
    },
  };
}
