// A line to a device: bytes out and bytes in, whatever carries them. It never frames and never reconnects.

export interface LineTaker {
  bytes(bytes: Uint8Array): void;
  /** Once, unless we have closed it ourselves. */
  ended(why: string): void;
}

export interface Line {
  /** False where the line has ended: nothing of it was sent. */
  write(bytes: Uint8Array): boolean;
  close(): void;
}

/** This machine cannot have such a line as it is; the message says what to do about it. */
export class LineUnavailableError extends Error {}

/** Rejects where it cannot be opened. */
export type OpenLine = (taker: LineTaker) => Promise<Line>;
