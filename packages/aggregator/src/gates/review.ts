// Somebody has looked at a held result and decides whether its caller sees it: exactly the one whose digest was signed.
import type { TreeState } from "../servers/tree-state.ts";
import { type Gatekeeper, wake } from "./gatekeeper.ts";
import type { CheckedProof } from "./proofs/proofs.ts";
import { gateEvent, recordFirst } from "./store/gate-records.ts";
import type { Gate } from "./store/gate-store.ts";

/** Gives back its outcome. Each decision is recorded before the caller can see anything. */
export async function decideResult(
  { audit }: TreeState,
  gates: Gatekeeper,
  { id }: Gate,
  { by, thumbprint, statement, proofHash, proof }: CheckedProof & { proof: string },
): Promise<Gate> {
  const { store } = gates;
  const { decision, reason } = statement;
  const isRelease = decision === "approve";
  const decided = isRelease
    ? await store.approveResult(id, { by, thumbprint, proof, proofHash })
    : await store.rejectResult(id, { by, reason, proofHash });
  const action = isRelease ? "release" : "withhold";
  await recordFirst(audit, gateEvent(action, by, decided, { proof: proofHash, key: thumbprint }));
  if (isRelease) await store.handOver(id);
  const after = (await store.find(id)) ?? decided;
  wake(gates, after);
  return after;
}
