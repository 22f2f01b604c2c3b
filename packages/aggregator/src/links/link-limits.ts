// How much of everything one server may take of us.

export interface LinkLimits {
  /** The largest message read. */
  messageBytesMax: number;
  /** What may wait for a server that does not read. */
  waitingBytesMax: number;
  inFlightMax: number;
  /** Questions of the server that wait for an answer. */
  questionsMax: number;
  /** Notifications a second that belong to requests, and after how many of all kinds reading pauses; bursts may have four times as many. */
  notificationRate: number;
  /** Lines for people a second; bursts may have four times as many. */
  logLineRate: number;
}

export const defaultLinkLimits: LinkLimits = {
  messageBytesMax: 16 * 1_048_576,
  waitingBytesMax: 16 * 1_048_576,
  inFlightMax: 1_024,
  questionsMax: 64,
  notificationRate: 500,
  logLineRate: 50,
};
