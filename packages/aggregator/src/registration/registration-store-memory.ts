// Registrations that end with the process.
import type { Clock } from "@mcpx/host";
import {
  type Claim,
  epochsMax,
  proofSlackMs,
  pruneMs,
  type RegistrationStore,
} from "./registration-store.ts";
import { createLeases } from "./registration-store-leases.ts";

export function createMemoryRegistrationStore({ clock }: { clock: Clock }): RegistrationStore {
  const claims = new Map<string, { claim: Claim; untilMs: number }>();
  const proofs = new Map<string, number>();
  let prunedAt = clock.monotonic();

  function prune(): void {
    if (clock.monotonic() - prunedAt < pruneMs) return;
    prunedAt = clock.monotonic();
    const now = clock.now();
    for (const [segment, { untilMs }] of claims) if (untilMs <= now) claims.delete(segment);
    for (const [id, untilMs] of proofs) if (untilMs + proofSlackMs <= now) proofs.delete(id);
  }

  return {
    async claim(claim, keepMs) {
      prune();
      const held = claims.get(claim.segment);
      if (held !== undefined && held.untilMs > clock.now() && held.claim.identity !== claim.identity) {
        return { ...held.claim };
      }
      claims.set(claim.segment, { claim: { ...claim }, untilMs: clock.now() + keepMs });
      return { ...claim };
    },
    async touch(segment, keepMs) {
      const held = claims.get(segment);
      if (held !== undefined && held.untilMs > clock.now()) held.untilMs = clock.now() + keepMs;
    },
    async release(segment, subserverId) {
      if (claims.get(segment)?.claim.subserverId === subserverId) claims.delete(segment);
    },
    async useProof(id, untilMs) {
      prune();
      if (proofs.has(id)) return false;
      proofs.set(id, untilMs);
      return true;
    },
    ...createLeases(clock, createEpochs()),
  };
}

function createEpochs(): (subserverId: string) => number {
  const bySubserver = new Map<string, number>();
  let floor = 0;
  return (subserverId) => {
    const epoch = (bySubserver.get(subserverId) ?? floor) + 1;
    // Last in the map: the one whose turn was longest ago is the first to be forgotten.
    bySubserver.delete(subserverId);
    bySubserver.set(subserverId, epoch);
    if (bySubserver.size > epochsMax) {
      const [oldest] = bySubserver;
      if (oldest !== undefined) {
        floor = Math.max(floor, oldest[1]);
        bySubserver.delete(oldest[0]);
      }
    }
    return epoch;
  };
}
