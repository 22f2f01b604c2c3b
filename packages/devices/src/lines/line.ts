// A line to a device: bytes out and bytes in, whatever carries them. It never frames and never reconnects.

export interface LineTaker {
  bytes(bytes: Uint8Array): void;
  /** Once, unless we have closed it ourselves. */
  ended(why: string): void;
  /** Only listens: whatever a line answers by itself is somebody else's to answer. */
  isLookingOn?: boolean | undefined;
}

export interface Line {
  /**
   * False where the line has ended: nothing of it was sent. What has to wait is not sent any more once it is not
   * awaited any more.
   */
  write(bytes: Uint8Array, isAwaited?: () => boolean): boolean;
  /** Reads nothing for so long; absent where what comes cannot wait. */
  pause?(ms: number): void;
  close(): void;
}

/** This machine cannot have such a line as it is; the message says what to do about it. */
export class LineUnavailableError extends Error {}

/** Rejects where it cannot be opened. */
export type OpenLine = (taker: LineTaker) => Promise<Line>;
