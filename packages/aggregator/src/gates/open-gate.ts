// A call gets its gate: the one it waits at already, the one that the tree above was told of, or a new one. Proofs that
// have come with the call decide about it at once. [AX-11.3-1] [AX-11.3-8]
import { type GateTerms, isMcpxError } from "@mcpx/protocol";
import type { PreparedCall } from "../dispatch/prepare-call.ts";
import type { Caller, Exchange } from "../mcp/exchange.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { decide, recordRefusal, requesterOf } from "./confirm.ts";
import { anchorsNow, type Gatekeeper } from "./gatekeeper.ts";
import { gatesBelow } from "./gates-ahead.ts";
import { takePromised } from "./promised-gates.ts";
import { type CheckedProof, checkProof } from "./proofs/proofs.ts";
import { type Gate, type GateWish, type SignedGate, termsOf } from "./store/gate-store.ts";

export type Proven = CheckedProof & { proof: string };

interface OpenedGate {
  gate: Gate;
  /** Proofs for it that came with its call. */
  proven: readonly Proven[];
}

export async function openGate(
  state: TreeState,
  gates: Gatekeeper,
  exchange: Exchange,
  call: PreparedCall,
  wish: GateWish,
): Promise<OpenedGate> {
  const { store, ttlMs, watchers } = gates;
  const { caller } = exchange;
  if (wish.isAllowed === true) return { ...(await store.open(wish, ttlMs)), proven: [] };
  const open = await store.findOpen(wish);
  if (open !== undefined) {
    const { gate } = await store.open(wish, ttlMs);
    return { gate, proven: gate.status === "pending" ? await provenBy(state, gates, gate, caller) : [] };
  }
  const promised = takePromised(gates.promised, wish, state.clock.now());
  const proven = promised && (await provenBy(state, gates, { ...wish, ...promised }, caller));
  // Where no proof names it, it is a gate like any other, and has all of its time.
  const isKept = promised !== undefined && proven !== undefined && proven.length > 0;
  const below = isKept ? promised.wish.below : await gatesBelow(state, exchange, call, wish);
  const { gate, isNew } = await store.open(withBelow(wish, below), ttlMs, isKept ? promised : undefined);
  if (isNew) for (const { opened } of watchers) opened?.(gate);
  return { gate, proven: isKept ? proven : [] };
}

function withBelow(wish: GateWish, below: readonly GateTerms[] | undefined): GateWish {
  return below === undefined || below.length === 0 ? wish : { ...wish, below };
}

/** Those of them that hold for this gate; the others leave a record, and the call waits as it would without. */
async function provenBy(
  state: TreeState,
  gates: Gatekeeper,
  gate: SignedGate,
  { proofs = [], principal }: Caller,
): Promise<Proven[]> {
  const terms = termsOf(gate, gates.aggregatorId);
  const question = { requester: requesterOf(gate), now: state.clock.now() };
  const proven: Proven[] = [];
  for (const proof of proofs) {
    try {
      proven.push({ ...(await checkProof(proof, terms, await anchorsNow(gates), question)), proof });
    } catch (error) {
      recordRefusal(state, gate, principal.id, error);
    }
  }
  return proven;
}

const tooLate: readonly string[] = ["confirmation_used", "confirmation_expired", "self_approval"];

/** One after the other, until enough have approved. */
export async function decideBy(
  state: TreeState,
  gates: Gatekeeper,
  gate: Gate,
  proven: readonly Proven[],
): Promise<void> {
  for (const proof of proven) {
    try {
      const { status } = await decide(state, gates, gate, proof);
      if (status !== "pending") return;
    } catch (error) {
      // Recorded where it was decided; another decision about it meanwhile is waited for.
      if (!isMcpxError(error) || !tooLate.includes(error.code)) throw error;
    }
  }
}
