// The tree: many MCP servers under one dotted namespace.

export { type GateRoutesOptions, gateRoutes } from "./admin/gates.ts";
export { createAdminRoutes } from "./admin/servers.ts";
export { changeReport, type ToolRoutesOptions, toolRoutes } from "./admin/tools.ts";
export { type BudgetAccount, type Budgets, createBudgets } from "./budgets/budget.ts";
export { listsAwaited } from "./catalogue/catalogue.ts";
export type { Overrides, ToolOverride } from "./catalogue/overrides.ts";
export type { ChangedTool, PinStore, ToolChange } from "./catalogue/pin-store.ts";
export { shownFigures } from "./dispatch/call-figures.ts";
export { createCallMeter } from "./dispatch/call-meter.ts";
export { createHttpEndpoint, type HttpEndpoint, type HttpEndpointOptions } from "./endpoints/http.ts";
export { type StdioEndpoint, type StdioEndpointOptions, serveStdio } from "./endpoints/stdio.ts";
export { type ApproveRoutesOptions, approveRoutes } from "./gates/approve/approve-routes.ts";
export { proofText } from "./gates/approve/decide-here.ts";
export { creationOptions, readRegistration } from "./gates/approve/registration.ts";
export { originOf, rpIdOf } from "./gates/approve/where.ts";
export { approverClash, approverMarks, type NewApprover } from "./gates/approver-clash.ts";
export { type AuthorityCards, createAuthorityCards } from "./gates/authority-cards.ts";
export {
  type AuthorityChange,
  type AuthorityState,
  changesBetween,
  isSame,
  pressKeys,
  pressPlace,
  type SignedPress,
  signaturesNeeded,
  signersOf,
} from "./gates/chain/authority-state.ts";
export { authorityServer, ChainFault, signedArguments } from "./gates/chain/chain-entry.ts";
export { sentencesOf } from "./gates/chain/change-words.ts";
export { approversIn, type KeptChain, openChain } from "./gates/chain/keep-chain.ts";
export type { ListedEntry } from "./gates/chain/verify-chain.ts";
export { confusableSkeleton } from "./gates/confusable-name.ts";
export { gatedNames } from "./gates/gated-names.ts";
export {
  type AnchorSource,
  anchorsNow,
  createGatekeeper,
  type Gatekeeper,
  type GateWatcher,
  knownAnchors,
} from "./gates/gatekeeper.ts";
export { keepGates } from "./gates/keep-gates.ts";
export {
  type Anchor,
  type AnchorKey,
  anchorKeys,
  type CounterKeeper,
  type PasskeyKey,
} from "./gates/proofs/anchors.ts";
export { describeKey } from "./gates/proofs/describe-key.ts";
export { provePresence } from "./gates/proofs/proof-passkey.ts";
export type { Rule, RuleAction } from "./gates/rules.ts";
export {
  type ApproverStore,
  anchorOf,
  approverValue,
  type Enrolled,
  isApproverName,
  type KeyKeeping,
  readApprover,
} from "./gates/store/approver-store.ts";
export { createFileApproverStore } from "./gates/store/approver-store-files.ts";
export { createPostgresApproverStore } from "./gates/store/approver-store-postgres.ts";
export type { GateStatus } from "./gates/store/gate-store.ts";
export { answeringLink } from "./links/answering-link.ts";
export type { HttpAddress } from "./links/http-caller.ts";
export type { Link, LinkRequest, LinkTaker, ServerFacts } from "./links/link.ts";
export { defaultLinkLimits, type LinkLimits } from "./links/link-limits.ts";
export { type OpenOptions, openLink, type Transport } from "./links/open-link.ts";
export { ownRequest } from "./links/own-request.ts";
export { serveLaunch } from "./links/serve-launch.ts";
export type { Launcher } from "./links/start-as-user.ts";
export type { ServerCommand } from "./links/start-process.ts";
export type { Sending, Wire, WireTaker } from "./links/wire.ts";
export { openHttpWire } from "./links/wire-http.ts";
export { openStdioWire } from "./links/wire-stdio.ts";
export type { Answers, Caller, Exchange, Question, Questions } from "./mcp/exchange.ts";
export { localRoute, operatorRoute } from "./mcp/operator.ts";
export { innerPrincipal, plainCaller } from "./mcp/plain-caller.ts";
export type { Profile, Profiles } from "./mcp/profile.ts";
export type { Subscription, Tree, TreeFacts, Wishes } from "./mcp/tree.ts";
export { type Dialect, dialects, isDialect, renderedCharsMax } from "./names/dialects.ts";
export { ownSegment } from "./names/own-segment.ts";
export { segmentFor } from "./names/segment.ts";
export { notificationsDropped } from "./notifications/notification-flows.ts";
export type { CredentialStore } from "./oauth/credential-store.ts";
export { createFileCredentialStore } from "./oauth/credential-store-files.ts";
export { createPostgresCredentialStore } from "./oauth/credential-store-postgres.ts";
export type { Credentials } from "./oauth/credentials.ts";
export { createGuardedFetch, type Lookup } from "./oauth/guarded-fetch.ts";
export { createOAuthCredentials } from "./oauth/oauth-credentials.ts";
export type { OAuthConfig } from "./oauth/party.ts";
export { createRegistrar, type Registrar, type RegistrarOptions } from "./registration/create-registrar.ts";
export { isPlainAbroad, type ParentOptions, registerAt } from "./registration/parent.ts";
export { registerAtAll } from "./registration/parents.ts";
export type { SubserverRule } from "./registration/registrar.ts";
export type { RegistrationStore } from "./registration/registration-store.ts";
export {
  createRoomConnections,
  type RoomConnections,
  type RoomConnectionsOptions,
} from "./rooms/room-connections.ts";
export { createRoomEndpoint, roomEndpointPath, roomOf } from "./rooms/room-endpoint.ts";
export { createRoomLink, type RoomLinkOptions } from "./rooms/room-link.ts";
export { serveTree, type TreeParticipant, type TreeParticipantOptions } from "./rooms/tree-participant.ts";
export { askServer } from "./scanners/ask-server.ts";
export { askWebhook } from "./scanners/ask-webhook.ts";
export type { Scanner } from "./scanners/scanner.ts";
export { type AwaitedAuthorisation, authorisationStatus } from "./servers/awaited-authorisation.ts";
export type { TreeChange, TreeChanges } from "./servers/change-servers.ts";
export type { LocalRooms, Opening, OpenServer, ServerIdentity, ServerOptions } from "./servers/server.ts";
export { serversOf } from "./servers/tree-state.ts";
export { endOwnOf } from "./servers/users/server-for.ts";
export {
  openSignIns,
  type Personal,
  type SignInOptions,
  type SignInState,
} from "./servers/users/sign-in-state.ts";
export { readUserKey, userKey } from "./servers/users/user-key.ts";
export { faultPage } from "./sign-in/sign-in-pages.ts";
export { type SignInRoutesOptions, signInRoutes } from "./sign-in/sign-in-routes.ts";
export { signInStatus } from "./sign-in/sign-in-status.ts";
export { createTree, type RunningTree, type TreeOptions } from "./tree/create-tree.ts";
export type { KeptFacts } from "./tree/facts.ts";
export { type KnownNames, knownNames } from "./tree/known-names.ts";
export { aggregatorMigrations } from "./tree/migrations.ts";
export { treeOnPostgres } from "./tree/postgres-tables.ts";
export { serverStatus } from "./tree/status.ts";
export type { TreeStores } from "./tree/stores.ts";
export { createPostgresTreeStores } from "./tree/stores-postgres.ts";
export { openSqliteTreeStores } from "./tree/stores-sqlite.ts";
