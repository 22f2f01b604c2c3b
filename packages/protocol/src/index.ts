// The words of the wire. Pure: no I/O, no clocks, no `node:`.

export {
  type AccessKey,
  type Ed25519Jwk,
  isSameKey,
  keyThumbprint,
  readEd25519Jwk,
} from "./access/access-key.ts";
export { refusalOf, strangenessOf } from "./access/argument-schema.ts";
export { fromBase64url, toBase64url } from "./access/base64url.ts";
export {
  type CapabilityClaims,
  type CapabilityToken,
  capabilityType,
  coversTool,
  delegationsMax,
  readCapabilityToken,
  signCapability,
  type ToolSet,
} from "./access/capability-token.ts";
export { checkNarrower } from "./access/delegation.ts";
export { type EncryptionKey, encryptTo, offerEncryption, readOffer } from "./access/encrypt-grant.ts";
export {
  accessMetaKey,
  type CapabilityConstraints,
  type CapabilityGrant,
  type CapabilityRequest,
  type CarriedCapability,
  capabilityMethods,
  carriedIn,
  isAccessReason,
  policyType,
  readCapabilityRequest,
  readRevocation,
  revocationNotice,
  revocationType,
  revokedIdsMax,
  withoutCarried,
} from "./access/messages.ts";
export {
  type Access,
  type AccessPolicy,
  type AccessQuestion,
  defaultPolicy,
  grantedUntilMs,
  judge,
  type PolicyRule,
  readPolicy,
  stricterVerdict,
  strictPolicy,
  type Verdict,
} from "./access/policy.ts";
export { type CallProof, type ProvenCall, proofSkewMs, signProof } from "./access/proof.ts";
export {
  type ArgumentJudge,
  type PresentedCall,
  type Verification,
  VerifiedTokens,
  type VerifiedUse,
  verifyCall,
} from "./access/verify-call.ts";
export { type AuditOutcome, auditOutcome, auditOutcomes, type OutcomeTone } from "./audit-outcome.ts";
export { type BackoffOptions, backoffMs } from "./backoff.ts";
export { type CloseCode, closeCodes, mayComeBack } from "./close-codes.ts";
export { checkChat, type DerivedChat, deriveChat, isV0Chat, v0ChatMethod } from "./envelope/chat.ts";
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
} from "./envelope/envelope.ts";
export { fitsRoom, type RoomBounds } from "./envelope/fits-room.ts";
export { errorTable, isMcpxError, McpxError, type McpxErrorOptions, type Reason } from "./errors.ts";
export { EventReader, type EventTaker } from "./event-reader.ts";
export {
  challengeOf,
  type Decision,
  decisions,
  type GateTerms,
  gateReasonCharsMax,
  namesAsker,
  readStatement,
  type ServerTerms,
  type Statement,
  statementOf,
  statementText,
} from "./gates/gate.ts";
export { type GateFacts, type GateOutcome, gateOutcome } from "./gates/gate-outcome.ts";
export {
  type GateNotice,
  gateOfProposal,
  gateProposal,
  gateProposalId,
  readGateNotice,
} from "./gates/gate-proposal.ts";
export {
  type RemoteStatementKey,
  type StatementKey,
  signStatement,
  signText,
} from "./gates/gate-signature.ts";
export {
  type GrantTerms,
  grantChallenge,
  grantLines,
  grantProofType,
  grantText,
  signGrant,
} from "./gates/grant-terms.ts";
export {
  checkOneCall,
  gatesAheadMethod,
  isJoint,
  type JointStatement,
  jointStatementOf,
  ownStatement,
  readGatesBelow,
  readJointStatement,
} from "./gates/joint-statement.ts";
export {
  confirmationAsError,
  confirmationKey,
  confirmationOf,
  confirmationRequired,
  readWaitingCall,
  type WaitAdvice,
  type WaitingCall,
} from "./gates/pending-gate.ts";
export { type ArgumentChange, type ArgumentDiff, argumentDiff } from "./json/argument-diff.ts";
export { canonicalJson, digestOf, sha256 } from "./json/canonical-json.ts";
export { numberOf, parseExact } from "./json/exact-json.ts";
export { heapBytesOf, stringBytesOf } from "./json/heap-size.ts";
export { isObject, isRequestId, type JsonObject, type JsonRpcShape, jsonRpcShape } from "./json/json-rpc.ts";
export { JsonShape, type ShapeBounds } from "./json/json-shape.ts";
export { readUnambiguous } from "./json/read-unambiguous.ts";
export { doubledKey, quoteShort, type Scanned, type Span, scan } from "./json/scan.ts";
export { type Kind, kinds, type ParsedKind, parseKind } from "./kinds.ts";
export {
  type Action,
  type AssignableRight,
  actions,
  assignableRights,
  builtInRight,
  isLevel,
  type Level,
  type LevelRights,
  type LevelTable,
  levelRank,
  levels,
  levelTable,
  type Permission,
  withAssignedRights,
} from "./levels.ts";
export { defaultLimits, type Limits } from "./limits.ts";
export { isId, isReservedId, matchesAnyGlob, matchesGlob } from "./names.ts";
export { roomMethods } from "./room-methods.ts";
export { type ChainLink, signEnvelope, skippedMax } from "./signing/envelope-signature.ts";
export {
  type JudgeOptions,
  judgeEnvelope,
  type SignatureState,
  type SignatureVerdict,
  signatureStates,
} from "./signing/judge-envelope.ts";
export { type ChainFinding, type NumberRange, SignatureChains } from "./signing/signature-chains.ts";
export { splitList } from "./signing/split-page.ts";
export {
  hiddenIn,
  hiddenText,
  spelledOut,
  visible,
  visibleJson,
} from "./text/hidden.ts";
export {
  imitationsAmong,
  isRightToLeft,
  looksLike,
  mixedWords,
  suspicionOf,
} from "./text/look-alike.ts";
export { isPublicMember } from "./text/public-values.ts";
export { replaceBetween } from "./text/replace-between.ts";
export { isSecretName } from "./text/secret-names.ts";
export {
  isSecretPlace,
  isSecretValue,
  maskChange,
  maskSecrets,
  maskText,
  nameInside,
  placeOf,
  secretMask,
  secretPlaces,
  secretTexts,
} from "./text/secrets.ts";
export { type TextPart, visibleText } from "./text/visible-text.ts";
export { definitionWarnings, isDefinitionSmuggling, valueWarnings } from "./text/warnings.ts";
export { isTimestamp, timestampMs } from "./time.ts";
export {
  type AuthScope,
  annotationCharsMax,
  authScopes,
  believedKey,
  believedOf,
  type Capability,
  capabilityKey,
  capabilityOf,
  cautious,
  describesDanger,
  fitsScope,
  harmless,
  isIrreversible,
  type LatencyClass,
  latencyClasses,
  mayRepeat,
  readCapability,
  seesFreshState,
  stricterOf,
} from "./tree/capability.ts";
export {
  type Budget,
  closingIdsKey,
  deadlineMs,
  heartbeatMsMax,
  heartbeatMsMin,
  isUuid,
  leaseMs,
  type Registration,
  type RegistrationAnswer,
  type RegistrationCapabilities,
  readRegistration,
  readSubserverIds,
  readSubtreeIds,
  readUuid,
  registrationMethods,
  registrationVersion,
  subserverIdsKey,
  subserverIdsMax,
  subtreeIdsKey,
  subtreeIdsMax,
  type TransportClass,
  transportClasses,
  treeNotifications,
} from "./tree/registration.ts";
export { matchesTool, withoutRoot, withRoot } from "./tree/root-name.ts";
export { whoseWordText } from "./whose-word.ts";
export { numeric, written } from "./written.ts";
