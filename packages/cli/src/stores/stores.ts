// Where a gateway keeps its state: in the files of its data directory, or on PostgreSQL.
import type { ApproverStore, CredentialStore, TreeStores } from "@mcpx/aggregator";
import type { BridgeStore, PushStore } from "@mcpx/bridges";
import type { GatewayParts } from "@mcpx/gateway";
import type { AuditOptions, AuditPositions, IdentityOptions } from "@mcpx/host";
import type { AuthorizationStore } from "../authorization/store/authorization-store.ts";

export interface Stores {
  audit: AuditOptions["store"];
  /** How far the audit was sent elsewhere. */
  auditPositions: AuditPositions;
  identity: IdentityOptions["store"];
  rooms: GatewayParts["state"];
  topicLog: GatewayParts["topicLog"];
  tree: TreeStores;
  credentials: CredentialStore;
  approvers: ApproverStore;
  authorization: AuthorizationStore;
  bridges: BridgeStore;
  push: PushStore;
}

/** Events of stores while a gateway runs on them. */
export interface StoreEvents {
  /** Once: nothing more can be trusted. */
  onFailure(error: Error): void;
  /** They cannot be reached, or can be again. */
  onReach(isCutOff: boolean): void;
}
