// For the operator: GET /admin/bridges, the configured bridges and how they are.
import { operatorRoute } from "@mcpx/aggregator";
import type { Audit, Identity, Route } from "@mcpx/host";
import type { OpenBridges } from "./open-bridges.ts";

export interface BridgeRoutesOptions {
  identity: Pick<Identity, "tokens">;
  audit: Audit;
  bridges: () => OpenBridges | undefined;
}

export function bridgeRoutes({ identity, audit, bridges }: BridgeRoutesOptions): Route[] {
  const list = async () => ({ body: { bridges: (await bridges()?.facts()) ?? [] } });
  return [operatorRoute({ identity, audit }, "GET", "/admin/bridges", list)];
}
