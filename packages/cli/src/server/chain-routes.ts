// For the operator: GET /admin/approvers/chain, who approves, who came to approve and what made gates weaker, entry by
// entry, and what waits for a signature. [B-KEY-2]
import { anchorsNow, describeKey, type Gatekeeper, operatorRoute, sentencesOf } from "@mcpx/aggregator";
import type { Audit, Identity, Route } from "@mcpx/host";
import type { JsonObject } from "@mcpx/protocol";
import type { GateAuthority } from "./open-gates.ts";

export interface ChainRouteOptions {
  identity: Identity;
  audit: Audit;
  authority: Pick<GateAuthority, "chain" | "cards">;
  gates: Pick<Gatekeeper, "aggregatorId" | "anchors">;
}

export function chainRoutes({ identity, audit, authority, gates }: ChainRouteOptions): Route[] {
  const { chain, cards } = authority;
  const show = async (): Promise<{ body: JsonObject }> => {
    // What a command has appended a moment ago counts from now on.
    await chain.refresh();
    const { entries, head, state } = chain.now();
    const waiting = sentencesOf(state, cards.waiting());
    const approvers = (await anchorsNow(gates)).map(describeKey);
    const { aggregatorId: aggregator_id } = gates;
    return { body: { aggregator_id, approvers, entries: [...entries], head: head ?? null, waiting } };
  };
  return [operatorRoute({ identity, audit }, "GET", "/admin/approvers/chain", show)];
}
