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

/** Rejects where it cannot be opened. */
export type OpenLine = (taker: LineTaker) => Promise<Line>;
