// Every bound of the system with its default. `docs/LIMITS.md` shows this table; a test keeps them equal.

export interface Limits {
  /** Bytes of one envelope. */
  envelopeBytesMax: number;
  /** WebSocket frames of one envelope. */
  envelopeFragmentsMax: number;
  /** Nesting depth of an envelope, its own braces included. */
  depthMax: number;
  /** Values in one JSON message. */
  valuesMax: number;
  /** Ids in `to`. */
  toMax: number;
  /** Characters of an id or a topic name. */
  idCharsMax: number;
  /** Characters of the reason of a rejection, a withdrawal or a status. */
  reasonCharsMax: number;
  /** Characters of the code of a rejection, a withdrawal or a status. */
  codeCharsMax: number;
  /** Live room connections of one process. */
  connectionsMax: number;
  /** Sockets that have not shown a valid credential yet. */
  strangerSocketsMax: number;
  /** Sockets of one principal. */
  socketsPerPrincipalMax: number;
  /** Live room connections of one principal. */
  connectionsPerPrincipalMax: number;
  /** WebSocket handshakes a second. */
  handshakesPerSecond: number;
  /** Time to finish an HTTP request's headers. */
  handshakeMs: number;
  /** Envelopes a second of a `full` participant. */
  envelopesPerSecondFull: number;
  /** Envelopes a second of any other participant. */
  envelopesPerSecondRestricted: number;
  /** How many seconds' worth of envelopes may come at once. */
  burstFactor: number;
  /** Proposals a minute of one participant. */
  proposalsPerMinute: number;
  /** Requests for capabilities a minute of one participant, where the gateway checks calls. */
  capabilityRequestsPerMinute: number;
  /** Faults a minute before a connection is closed. */
  faultsPerMinute: number;
  /** Time between pings. */
  pingIntervalMs: number;
  /** Silence after which a connection counts as dead. */
  pingTimeoutMs: number;
  /** Bytes waiting for one connection. */
  queueBytesMax: number;
  /** Envelopes waiting for one connection. */
  queueEnvelopesMax: number;
  /** Time a waiting queue may make no progress. */
  queueStallMs: number;
  /** Envelopes of one history page. */
  historyPageMax: number;
  /** Bytes of all topics' history on disk; the largest topics give way first. */
  historyBytesMax: number;
  /** Topics one gateway keeps. */
  topicsMax: number;
  /** Topics one principal may create. */
  topicsPerPrincipalMax: number;
  /** Participants, in each of their topics, that are remembered; and keys of participants. */
  participantsMax: number;
  /** Life of a ticket. */
  ticketMs: number;
  /** Bytes of an HTTP request's body. */
  bodyBytesMax: number;
  /** Warning before a token ends. */
  tokenWarningMs: number;
  /** Time for connections to end after SIGTERM. */
  drainMs: number;
  /** Envelopes remembered for duplicates where a topic keeps no history. */
  duplicateWindow: number;
  /** Envelopes looked at for the request of a v0 response without `correlation_id`. */
  correlationWindow: number;
  /** Bytes of an MCP message over HTTP or standard input. */
  mcpBodyBytesMax: number;
  /** Nesting depth of an MCP message. */
  mcpDepthMax: number;
  /** MCP requests of one principal under way. */
  mcpRequestsPerPrincipalMax: number;
  /** Open `subscriptions/listen` of one principal. */
  mcpListensPerPrincipalMax: number;
  /** MCP sessions of one process. */
  mcpSessionsMax: number;
  /** MCP sessions of one principal. */
  mcpSessionsPerPrincipalMax: number;
  /** Life of an MCP session nobody uses. */
  mcpSessionIdleMs: number;
  /** Time to come back to a stream that was cut. */
  mcpResumeMs: number;
  /** Events kept for one stream's return. */
  mcpReplayEventsMax: number;
  /** Bytes kept for one stream's return. */
  mcpReplayBytesMax: number;
  /** Calls that wait for their client's answers. */
  mcpParkedMax: number;
  /** Calls of one principal that wait for answers. */
  mcpParkedPerPrincipalMax: number;
  /** Time a call waits for its client's answers. */
  mcpParkedMs: number;
  /** Bytes of memory that may be held for one principal: calls that wait, unread answers, subscriptions. */
  heldBytesPerPrincipalMax: number;
  /** Held bytes of all principals together. */
  heldBytesMax: number;
  /** Bytes of memory that the lists of one server may take. */
  listBytesPerServerMax: number;
  /** The same of all servers that one principal has registered. */
  listBytesPerPrincipalMax: number;
  /** Bytes of the lists of all servers together. */
  listBytesMax: number;
  /** Bytes of memory that what a server says of itself may take: capabilities, instructions, name. */
  factsBytesMax: number;
  /** Records of the audit; older ones are pruned. */
  auditRecordsMax: number;
  /** Age at which records of the audit are pruned. */
  auditKeepMs: number;
  /** Characters of pinned tools of one server. */
  pinnedCharsPerServerMax: number;
  /** The same of all servers that one principal has registered. */
  pinnedCharsPerPrincipalMax: number;
  /** Pinned characters of all servers that have registered. */
  pinnedCharsMax: number;
  /** Subservers that one principal has registered. */
  subserversPerPrincipalMax: number;
  /** Requests of one subserver to the tree under way. */
  subserverCallsMax: number;
  /** Bytes a second that are read of one device's line. */
  deviceLineBytesPerSecond: number;
  /** Bytes a device's line may bring of which nothing can be read. */
  deviceNoiseBytesMax: number;
  /** Events a second that one device may say. */
  deviceEventsPerSecond: number;
}

export const defaultLimits: Readonly<Limits> = Object.freeze({
  envelopeBytesMax: 262_144,
  envelopeFragmentsMax: 4_096,
  depthMax: 32,
  valuesMax: 50_000,
  toMax: 64,
  idCharsMax: 128,
  reasonCharsMax: 2_000,
  codeCharsMax: 64,
  connectionsMax: 5_000,
  strangerSocketsMax: 1_000,
  socketsPerPrincipalMax: 2_000,
  connectionsPerPrincipalMax: 500,
  handshakesPerSecond: 200,
  handshakeMs: 10_000,
  envelopesPerSecondFull: 50,
  envelopesPerSecondRestricted: 10,
  burstFactor: 4,
  proposalsPerMinute: 30,
  capabilityRequestsPerMinute: 30,
  faultsPerMinute: 100,
  pingIntervalMs: 20_000,
  pingTimeoutMs: 45_000,
  queueBytesMax: 1_048_576,
  queueEnvelopesMax: 1_000,
  queueStallMs: 10_000,
  historyPageMax: 1_000,
  historyBytesMax: 8_589_934_592,
  topicsMax: 10_000,
  topicsPerPrincipalMax: 1_000,
  participantsMax: 1_000_000,
  ticketMs: 30_000,
  bodyBytesMax: 65_536,
  tokenWarningMs: 60_000,
  drainMs: 10_000,
  duplicateWindow: 1_000,
  correlationWindow: 256,
  mcpBodyBytesMax: 4_194_304,
  mcpDepthMax: 128,
  mcpRequestsPerPrincipalMax: 1_000,
  mcpListensPerPrincipalMax: 100,
  mcpSessionsMax: 5_000,
  mcpSessionsPerPrincipalMax: 100,
  mcpSessionIdleMs: 1_800_000,
  mcpResumeMs: 30_000,
  mcpReplayEventsMax: 256,
  mcpReplayBytesMax: 1_048_576,
  mcpParkedMax: 2_000,
  mcpParkedPerPrincipalMax: 50,
  mcpParkedMs: 600_000,
  heldBytesPerPrincipalMax: 67_108_864,
  heldBytesMax: 536_870_912,
  listBytesPerServerMax: 67_108_864,
  listBytesPerPrincipalMax: 134_217_728,
  listBytesMax: 536_870_912,
  factsBytesMax: 262_144,
  auditRecordsMax: 5_000_000,
  auditKeepMs: 315_360_000_000,
  pinnedCharsPerServerMax: 67_108_864,
  pinnedCharsPerPrincipalMax: 67_108_864,
  pinnedCharsMax: 536_870_912,
  subserversPerPrincipalMax: 1_000,
  subserverCallsMax: 100,
  deviceLineBytesPerSecond: 262_144,
  deviceNoiseBytesMax: 65_536,
  deviceEventsPerSecond: 100,
});
