// The ground rooms and tree stand on.
export {
  type Audit,
  type AuditEvent,
  type AuditOptions,
  type AuditRecord,
  createAudit,
} from "./audit/audit.ts";
export type { ChainedRow, ChainVerdict, Pruned } from "./audit/chain.ts";
export { exportHead, exportLine, exportStart, readExportRow } from "./audit/export.ts";
export type { AuditRetention } from "./audit/prune.ts";
export type { AuditPositions } from "./audit/push/positions.ts";
export { createPostgresAuditPositions } from "./audit/push/positions-postgres.ts";
export { createSqliteAuditPositions } from "./audit/push/positions-sqlite.ts";
export { createPostPlace, otlpLogs, webhookBody } from "./audit/push/post-records.ts";
export { type AuditPlace, type NamedPlace, pushAudit } from "./audit/push/push-audit.ts";
export { createSyslogPlace } from "./audit/push/syslog.ts";
export type { AuditPage, AuditPageQuery } from "./audit/store.ts";
export { createPostgresAuditStore } from "./audit/store-postgres.ts";
export { createSqliteAuditStore } from "./audit/store-sqlite.ts";
export { type ExportVerdict, verifyExport } from "./audit/verify.ts";
export type { AuditQuery } from "./audit/walk-chain.ts";
export {
  type CertificatePair,
  type CertificateWish,
  makeAuthority,
  makeCertificate,
} from "./certificates/make-certificate.ts";
export { type Clock, createManualClock, type ManualClock, systemClock } from "./clock.ts";
export type { ClusterGateway, ClusterStore, GatewayAddress, News } from "./cluster/cluster-store.ts";
export { clusterOnPostgres, createPostgresClusterStore } from "./cluster/cluster-store-postgres.ts";
export { joinCluster, type Membership, type MembershipOptions } from "./cluster/membership.ts";
export { firstOwnKind, type PeerHandler, type PeerLimits, type PeerLink } from "./cluster/peer-link.ts";
export { createPeers, type Peers, peerPath } from "./cluster/peers.ts";
export { isDnsName } from "./dns-name.ts";
export {
  type ByteLedger,
  createByteLedger,
  type Hold,
  type LedgerPrincipal,
  openTo,
} from "./fair/byte-ledger.ts";
export { GatheredBytes } from "./fair/gathered-bytes.ts";
export { paceInput, type Share } from "./fair/paced-input.ts";
export { shareOf } from "./fair/share.ts";
export { type Account, createTurns, type Turns } from "./fair/turns.ts";
export { syncDirectory, writeWhole } from "./files/write-whole.ts";
export { addressKey } from "./http/addresses.ts";
export { bearerToken, principalOf } from "./http/bearer.ts";
export {
  createListener,
  type Listener,
  type ListenerAddress,
  type ListenerOptions,
  type TlsOptions,
  type UpgradeHandler,
} from "./http/listener.ts";
export type { HttpRequest, UpgradeRequest } from "./http/request.ts";
export type { HttpResponse } from "./http/response.ts";
export type { ResponseStream } from "./http/response-stream.ts";
export type { Handler, Route } from "./http/routes.ts";
export {
  type AuthorityProof,
  type AuthorityProofs,
  type AuthorityQuestion,
  proofMsMax,
} from "./identity/authority-proofs.ts";
export { createIdentity, type Identity, type IdentityOptions, newRootSecret } from "./identity/identity.ts";
export type { IssuedToken } from "./identity/identity-store.ts";
export { createPostgresIdentityStore, hasIdentity } from "./identity/identity-store-postgres.ts";
export { createSqliteIdentityStore } from "./identity/identity-store-sqlite.ts";
export type { MintedToken } from "./identity/issue-jws.ts";
export type { IssuerConfig } from "./identity/issuers.ts";
export { isLocalRequest, localHeader, localProof } from "./identity/local-proof.ts";
export { readPublicJwk } from "./identity/public-jwk.ts";
export type { Revocations } from "./identity/revocations.ts";
export { signDecision, statementKey } from "./identity/sign-decision.ts";
export type { SigningKeys } from "./identity/signing-keys.ts";
export { thumbprint } from "./identity/thumbprint.ts";
export type { Ticket, Tickets } from "./identity/tickets.ts";
export type { TokenClaims, Tokens } from "./identity/tokens.ts";
export { boundedLabel } from "./logging/bounded-label.ts";
export { cutSecrets } from "./logging/cut-secrets.ts";
export { createLogger, type Logger, type LoggerOptions, type LogLevel } from "./logging/log.ts";
export { type Counter, createMetrics, type Gauge, type Histogram, type Metrics } from "./logging/metrics.ts";
export { type PostgresAddress, readPostgresAddress, showPostgresHost } from "./postgres/address.ts";
export { askPostgres } from "./postgres/ask-postgres.ts";
export { bigintArray, byteaArray, textArray } from "./postgres/binary-array.ts";
export { PostgresFault, sqlState } from "./postgres/fault.ts";
export { hostOnPostgres } from "./postgres/host-tables.ts";
export { migratePostgres, type PostgresComponent } from "./postgres/migrate.ts";
export {
  type MissingRights,
  missingRights,
  missingRightsStatement,
  type RightRow,
} from "./postgres/missing-rights.ts";
export type { Statement } from "./postgres/run-statement.ts";
export { createSeal, type Seal } from "./postgres/seal.ts";
export { openPostgresSession, type PostgresSession, type PostgresTuning } from "./postgres/session.ts";
export { storageRefusal } from "./postgres/storage-refusal.ts";
export {
  isParticipantKind,
  isSamePayer,
  mayEnter,
  type ParticipantKind,
  type Principal,
  type PublicJwk,
  participantKinds,
  principalKey,
} from "./principal.ts";
export { type DatabaseOptions, type Migration, openDatabase } from "./sqlite/database.ts";
export { hostMigrations, openState } from "./sqlite/state.ts";
export { durably, immediately } from "./sqlite/transaction.ts";
export { createTraces, type SpanStarter, type Traces } from "./tracing/create-traces.ts";
export { type OtelSettings, otelSettings } from "./tracing/otel-settings.ts";
export { readTraceparent, writeTraceparent } from "./tracing/trace-context.ts";
