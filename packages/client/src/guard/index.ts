// Capabilities: for those who have tools, and for those who call them.
export type {
  AccessKey,
  AccessPolicy,
  ArgumentJudge,
  CapabilityGrant,
  Ed25519Jwk,
  PolicyRule,
  ToolSet,
} from "@mcpx/protocol";
export { createKey, keyFromJwk, keyFromPair } from "../signing/create-key.ts";
export type {
  AccessStore,
  AccessStoreBounds,
  GrantRecord,
  LiveGrant,
  Spending,
  SpendOutcome,
} from "./access-store.ts";
export { createIndexedDbAccessStore } from "./access-store-indexeddb.ts";
export { createMemoryAccessStore } from "./access-store-memory.ts";
export { createGuard, type Guard, type IssueWish } from "./create-guard.ts";
export { type Delegation, delegateCapability } from "./delegate.ts";
export type {
  ApprovalAnswer,
  ApprovalQuestion,
  Approver,
  GrantTerms,
  GuardEvent,
  GuardOptions,
} from "./guard-state.ts";
export { type CapabilityWish, holdCapability, requestCapability } from "./request-capability.ts";
