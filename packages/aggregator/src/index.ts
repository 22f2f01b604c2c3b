// The tree: many MCP servers under one dotted namespace.

export { type GateRoutesOptions, gateRoutes } from "./admin/gates.ts";
export { operatorRoute } from "./admin/operator.ts";
export { createAdminRoutes } from "./admin/servers.ts";
export { changeReport, type ToolRoutesOptions, toolRoutes } from "./admin/tools.ts";
export { type AwaitedAuthorisation, authorisationStatus } from "./awaited-authorisation.ts";
export { type BudgetAccount, type Budgets, createBudgets } from "./budget.ts";
export type { BudgetStore } from "./budget-store.ts";
export { createMemoryBudgetStore } from "./budget-store-memory.ts";
export { createSqliteBudgetStore } from "./budget-store-sqlite.ts";
export { shownFigures } from "./call-figures.ts";
export type { TreeChange, TreeChanges } from "./change-servers.ts";
export { createTree, type RunningTree, type TreeOptions } from "./create-tree.ts";
export type { CredentialStore } from "./credentials/credential-store.ts";
export { createFileCredentialStore } from "./credentials/credential-store-files.ts";
export type { Credentials } from "./credentials/credentials.ts";
export { createOAuthCredentials } from "./credentials/oauth-credentials.ts";
export type { OAuthConfig } from "./credentials/party.ts";
export { createHttpDoor, type HttpDoor, type HttpDoorOptions } from "./doors/http.ts";
export { type StdioDoor, type StdioDoorOptions, serveStdio } from "./doors/stdio.ts";
export type { Answers, Caller, Exchange, Question, Questions } from "./exchange.ts";
export {
  type Anchor,
  type AnchorKey,
  anchorKeys,
  type CounterKeeper,
  type PasskeyKey,
} from "./gates/anchors.ts";
export { proofText } from "./gates/approve/decide-here.ts";
export { creationOptions, readRegistration } from "./gates/approve/registration.ts";
export { type ApproveRoutesOptions, approveRoutes } from "./gates/approve/routes.ts";
export { originOf, rpIdOf } from "./gates/approve/where.ts";
export { approverClash, approverMarks, type NewApprover } from "./gates/approver-clash.ts";
export { type ApproverStore, anchorOf, isApproverName, readApprover } from "./gates/approver-store.ts";
export { createFileApproverStore } from "./gates/approver-store-files.ts";
export { createSqliteGateStore } from "./gates/gate-store-sqlite.ts";
export { anchorsNow, createGatekeeper, type Gatekeeper } from "./gates/gatekeeper.ts";
export { keepGates } from "./gates/keep-gates.ts";
export { likeness } from "./gates/likeness.ts";
export { keepPanic, readPanic } from "./gates/panic.ts";
export { provePresence } from "./gates/proof-passkey.ts";
export type { Rule } from "./gates/rules.ts";
export { type KnownNames, knownNames } from "./known-names.ts";
export { answeringLink } from "./links/answering-link.ts";
export type { HttpAddress } from "./links/http-caller.ts";
export type { Link, LinkRequest, LinkTaker, ServerFacts } from "./links/link.ts";
export { defaultLinkLimits, type LinkLimits } from "./links/link-limits.ts";
export { type OpenOptions, openLink, type Transport } from "./links/open-link.ts";
export { ownRequest } from "./links/own-request.ts";
export type { ServerCommand } from "./links/start-process.ts";
export type { Sending, Wire, WireTaker } from "./links/wire.ts";
export { openHttpWire } from "./links/wire-http.ts";
export { openStdioWire } from "./links/wire-stdio.ts";
export { aggregatorMigrations } from "./migrations.ts";
export { type Dialect, dialects, isDialect, renderNames } from "./names/dialects.ts";
export { segmentFor } from "./names/segment.ts";
export { notificationsDropped } from "./notification-flows.ts";
export type { Overrides, ToolOverride } from "./overrides.ts";
export { endOwnOf } from "./people/server-for.ts";
export { type SignInRoutesOptions, signInRoutes } from "./people/sign-in-routes.ts";
export { openSignIns, type Personal, type SignInOptions, type SignInState } from "./people/sign-in-state.ts";
export { readUserKey, userKey } from "./people/user-key.ts";
export type { ChangedTool, PinStore, ToolChange } from "./pin-store.ts";
export { createSqlitePinStore } from "./pin-store-sqlite.ts";
export { innerPrincipal, plainCaller } from "./plain-caller.ts";
export type { Profile, Profiles } from "./profile.ts";
export { aggregatorId } from "./registration/aggregator-id.ts";
export { createRegistrar, type Registrar, type RegistrarOptions } from "./registration/create-registrar.ts";
export { isPlainAbroad, type ParentOptions, registerAt } from "./registration/parent.ts";
export { registerAtAll } from "./registration/parents.ts";
export type { SubserverRule } from "./registration/registrar.ts";
export type { RegistrationStore } from "./registration/registration-store.ts";
export { createMemoryRegistrationStore } from "./registration/registration-store-memory.ts";
export { createSqliteRegistrationStore } from "./registration/registration-store-sqlite.ts";
export { createRoomFace, roomFacePath, roomOf } from "./rooms/room-face.ts";
export { createRoomLink, type RoomLinkOptions } from "./rooms/room-link.ts";
export { createSeats, type Seats, type SeatsOptions } from "./rooms/seats.ts";
export { serveTree, type TreeParticipant, type TreeParticipantOptions } from "./rooms/tree-participant.ts";
export { rootSince, storedRoot } from "./root-since.ts";
export type { Opening, OpenServer, RoomWay, ServerIdentity, ServerOptions } from "./server.ts";
export { serverStatus } from "./status.ts";
export type { Subscription, Tree, TreeFacts, Wishes } from "./tree.ts";
export { serversOf } from "./tree-state.ts";
