// The words of the wire. Pure: no I/O, no clocks, no `node:`.
export { canonicalJson, digestOf } from "./canonical-json.ts";
export {
  type AuthScope,
  authScopes,
  type Capability,
  capabilityKey,
  capabilityOf,
  cautious,
  fitsScope,
  harmless,
  isIrreversible,
  type LatencyClass,
  latencyClasses,
  mayRepeat,
  readCapability,
  seesFreshState,
  stricterOf,
} from "./capability.ts";
export { checkChat, type DerivedChat, deriveChat, isV0Chat, v0ChatMethod } from "./chat.ts";
export { type CloseCode, closeCodes, mayComeBack } from "./close-codes.ts";
export {
  bodyText,
  type Envelope,
  isProtocol,
  type Protocol,
  payloadText,
  protocols,
  type Readable,
  readable,
  readEnvelope,
  relayText,
  withFields,
} from "./envelope.ts";
export { errorTable, isMcpxError, McpxError, type McpxErrorOptions, type Reason } from "./errors.ts";
export { numberOf, parseExact } from "./exact-json.ts";
export {
  type Confirmation,
  challengeOf,
  confirmationRequired,
  type Decision,
  decisions,
  type GateTerms,
  gateReasonCharsMax,
  readStatement,
  type Statement,
  statementOf,
  statementText,
} from "./gate.ts";
export { isObject, isRequestId, type JsonObject, type JsonRpcShape, jsonRpcShape } from "./json-rpc.ts";
export { type Kind, kinds, type ParsedKind, parseKind } from "./kinds.ts";
export {
  type Action,
  actions,
  isLevel,
  type Level,
  levelRank,
  levels,
  levelTable,
  type Permission,
} from "./levels.ts";
export { defaultLimits, type Limits } from "./limits.ts";
export { isId, isReservedId, matchesAnyGlob, matchesGlob } from "./names.ts";
export {
  type Budget,
  deadlineMs,
  heartbeatMsMax,
  heartbeatMsMin,
  isUuid,
  leaseMs,
  type Registration,
  type RegistrationAnswer,
  type RegistrationCapabilities,
  readRegistration,
  readSubtreeIds,
  readUuid,
  registrationMethods,
  registrationVersion,
  subtreeIdsKey,
  subtreeIdsMax,
  type TransportClass,
  transportClasses,
  treeNotifications,
} from "./registration.ts";
export { type Scanned, type Span, scan } from "./scan.ts";
export { isTimestamp, timestampMs } from "./time.ts";
