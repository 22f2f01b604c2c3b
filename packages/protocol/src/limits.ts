// Every bound of the system with its default. `docs/LIMITS.md` shows this table; a test keeps them equal.

export interface Limits {
  /** Bytes of one envelope. */
  envelopeBytesMax: number;
  /** Nesting depth of an envelope, its own braces included. */
  depthMax: number;
  /** Ids in `to`. */
  toMax: number;
  /** Characters of an id or a topic name. */
  idCharsMax: number;
  /** Live room connections of one process. */
  connectionsMax: number;
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
  /** Topics one gateway keeps. */
  topicsMax: number;
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
}

export const defaultLimits: Readonly<Limits> = Object.freeze({
  envelopeBytesMax: 262_144,
  depthMax: 32,
  toMax: 64,
  idCharsMax: 128,
  connectionsMax: 5_000,
  handshakesPerSecond: 200,
  handshakeMs: 10_000,
  envelopesPerSecondFull: 50,
  envelopesPerSecondRestricted: 10,
  burstFactor: 4,
  proposalsPerMinute: 30,
  faultsPerMinute: 100,
  pingIntervalMs: 20_000,
  pingTimeoutMs: 45_000,
  queueBytesMax: 1_048_576,
  queueEnvelopesMax: 1_000,
  queueStallMs: 10_000,
  historyPageMax: 1_000,
  topicsMax: 10_000,
  ticketMs: 30_000,
  bodyBytesMax: 65_536,
  tokenWarningMs: 60_000,
  drainMs: 10_000,
  duplicateWindow: 1_000,
});
