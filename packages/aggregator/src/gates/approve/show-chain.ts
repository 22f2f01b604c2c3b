// For a browser that is about to sign at a gate: the head of the chain of approvers, and the hash of the entry it has seen
// last, so that it knows whether the chain was replaced. Hashes alone: who asked for the call may look here too. [B-KEY-2]
import type { HttpRequest, HttpResponse } from "@mcpx/host";
import { isObject } from "@mcpx/protocol";
import type { KeptChain } from "../chain/keep-chain.ts";
import type { Gatekeeper } from "../gatekeeper.ts";
import { findGate } from "./facts.ts";

export async function showChain(
  gates: Gatekeeper,
  chain: KeptChain | undefined,
  request: HttpRequest,
): Promise<HttpResponse> {
  await findGate(gates, request.params.id);
  const given: unknown = await request.json();
  const n = isObject(given) && Number.isSafeInteger(given.n) ? Number(given.n) : -1;
  await chain?.refresh();
  const { entries = [], head } = chain?.now() ?? {};
  return {
    body: {
      aggregator_id: gates.aggregatorId,
      head: head ? { ...head } : null,
      at: entries[n]?.hash ?? null,
    },
  };
}
